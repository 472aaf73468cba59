import os,re,subprocess,csv,io,sys
from concurrent.futures import ThreadPoolExecutor
st=sorted(f[:-6] for f in os.listdir('.') if f.endswith('_rc.cu'))
def build(p): return subprocess.run(['nvcc','-O3','-std=c++17','-arch=sm_90','-w',p+'.cu','-o',p+'.exe']).returncode
with ThreadPoolExecutor(16) as ex: list(ex.map(build,[s for s in st]+[s+'_rc' for s in st]))
def t(p,name):
    r=subprocess.run(['ncu','--clock-control','none','--csv','--metrics','gpu__time_duration.sum','-k','regex:^'+name+'(_rc.*)?$','./'+p+'.exe'],capture_output=True,text=True)
    lines=[l for l in r.stdout.splitlines() if l.startswith('"')]; tot=0;n=0;rc=0
    sc={'ns':1e-3,'nsecond':1e-3,'us':1,'usecond':1,'ms':1e3,'msecond':1e3}
    for row in csv.DictReader(io.StringIO('\n'.join(lines))):
        tot+=float(row['Metric Value'].replace(',',''))*sc[row['Metric Unit']]; n+=1; rc+='_rc' in row['Kernel Name']
    h=[l for l in r.stdout.splitlines() if not l.startswith(('"','==')) ]
    return tot,n,rc,h
for s in st:
    name=s.split('-')[1].split('_',1)[1] if s.split('-')[1].startswith(('nn_','ext_')) else s.split('-')[1]
    a=t(s,name); b=t(s+'_rc',name)
    print('%-32s %9.1f %9.1f %6.2f  %d of %d %s'%(s,a[0],b[0],a[0]/b[0] if b[0] else 0,b[2],b[1],'same' if a[3]==b[3] else 'DIFFERENT'),flush=True)
