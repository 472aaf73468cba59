;;; Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
;;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;;
;; Eglot in a batch Emacs: opens a file, waits for the messages, lists the code
;; actions, applies the first one to the changed, unsaved buffer and writes the
;; buffer to another file.  Environment: IN, OUT, FLAGS (of the compiler,
;; separated by spaces).

(require 'package)
(package-initialize)
(require 'eglot)
(require 'cl-lib)
(require 'flymake)

(defun test-wait (what condition)
  "Let the server's messages in until CONDITION holds."
  (let ((end (+ (float-time) 30)))
    (while (not (funcall condition))
      (when (> (float-time) end)
        (message "eglot.el: waited too long for %s" what)
        (kill-emacs 1))
      (accept-process-output nil 0.05))))

(setq eglot-sync-connect 30
      eglot-autoreconnect nil
      eglot-confirm-server-initiated-edits nil
      jsonrpc-default-request-timeout 30
      create-lockfiles nil
      make-backup-files nil
      auto-save-default nil)
(set-language-environment "UTF-8")

;; As docs/editors.md has it.
(define-derived-mode cuda-mode c++-mode "CUDA")
(put 'cuda-mode 'eglot-language-id "cuda")
(add-to-list 'auto-mode-alist '("\\.cuh?\\'" . cuda-mode))
(add-to-list 'eglot-server-programs
             `(cuda-mode "rcache-lsp" "--patience=30000" "--"
                         ,@(split-string (getenv "FLAGS") " " t)))

(find-file (getenv "IN"))
(apply #'eglot (eglot--guess-contact))

(test-wait "the messages" (lambda () (bound-and-true-p eglot--diagnostics)))
(test-wait "flymake" (lambda ()
                       (flymake-start)
                       (flymake-diagnostics)))
(dolist (diagnostic (flymake-diagnostics))
  (message "%s: %s" (flymake-diagnostic-type diagnostic)
           (car (split-string (flymake-diagnostic-text diagnostic) "\n"))))

;; A change that is not saved.
(goto-char (point-min))
(insert "// changed, not saved: 😀\n")
(search-forward "smooth")
(goto-char (match-beginning 0))

;; The menu: takes the entry that eglot would take by default.
(let ((last-nonmenu-event ?x))
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_prompt items &rest rest)
               (dolist (item items)
                 (message "action: %s" (car item)))
               (nth 4 rest))))
    (eglot-code-actions (point) (point) "refactor.rewrite" t)))

(write-region nil nil (getenv "OUT"))
(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server))
(message "done")
