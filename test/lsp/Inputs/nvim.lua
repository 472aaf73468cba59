-- Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- Neovim's own client, headless: opens a file, waits for the messages, lists the
-- code actions, applies the first one to the changed, unsaved buffer and writes
-- the buffer to another file. Environment: IN, OUT, FLAGS (of the compiler,
-- separated by spaces).

local limit = 30000

local function fail(text)
  io.stderr:write('nvim.lua: ' .. text .. '\n')
  vim.cmd('cquit 1')
end

local function wait(what, condition)
  if not vim.wait(limit, condition, 20) then fail('waited too long for ' .. what) end
end

local function main()
  vim.cmd('edit ' .. vim.env.IN)
  vim.bo.filetype = 'cuda'
  local command = { 'rcache-lsp', '--patience=30000', '--' }
  vim.list_extend(command, vim.split(vim.env.FLAGS, ' ', { trimempty = true }))
  local client = vim.lsp.start_client({ name = 'rcache', cmd = command, root_dir = vim.fn.getcwd() })
  vim.lsp.buf_attach_client(0, client)
  wait('the messages', function() return #vim.diagnostic.get(0) > 0 end)

  -- A change that is not saved.
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { '// changed, not saved: 😀' })
  for _, d in ipairs(vim.diagnostic.get(0)) do
    print(string.format('%s: %s', vim.diagnostic.severity[d.severity], (d.message:gsub('\n.*', ''))))
  end

  vim.fn.search('smooth')
  vim.lsp.buf.hover()
  wait('the hover', function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      local text = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), ' ')
      if text:find('can be rewritten', 1, true) and vim.api.nvim_win_get_config(window).relative ~= '' then
        return true
      end
    end
  end)

  -- The menu: takes the first entry.
  local titles
  vim.ui.select = function(items, options, choose)
    titles = vim.tbl_map(options.format_item, items)
    choose(items[1], 1)
  end
  local before = vim.api.nvim_buf_get_changedtick(0)
  vim.lsp.buf.code_action({ only = { 'refactor.rewrite' } })
  wait('the menu', function() return titles ~= nil end)
  for _, title in ipairs(titles) do print('action: ' .. title) end
  wait('the edit', function() return vim.api.nvim_buf_get_changedtick(0) > before end)

  vim.cmd('write! ' .. vim.env.OUT)
  vim.lsp.stop_client(client)
  wait('the end', function() return vim.lsp.get_client_by_id(client) == nil end)
  vim.cmd('qall!')
end

local ok, problem = xpcall(main, debug.traceback)
if not ok then fail(problem) end
