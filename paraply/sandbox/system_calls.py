"""System call numbers and the policy of the locked process.

Numbers are from Linux's ``arch/x86/entry/syscalls/syscall_64.tbl`` and ``asm-generic/unistd.h``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """An instruction set: its audit number, and the column of its system call numbers."""

    name: str
    audit: int
    column: int
    has_x32: bool = False
    """Numbers from 2^30 on are another table."""


MACHINES = {
    "x86_64": Machine(name="x86_64", audit=0xC000003E, column=0, has_x32=True),
    "aarch64": Machine(name="aarch64", audit=0xC00000B7, column=1),
}
"""By ``platform.machine()``."""


def _table(text: str) -> Mapping[str, tuple[int, int]]:
    rows = (line.split() for line in text.split(";") if line.strip())
    return {
        name: (_NONE if first == "-" else int(first), _NONE if second == "-" else int(second))
        for name, first, second in rows
    }


ALLOWED = _table("""
read 0 63; write 1 64; readv 19 65; writev 20 66; pread64 17 67; pwrite64 18 68; preadv 295 69;
pwritev 296 70; lseek 8 62; close 3 57; fstat 5 80; stat 4 -; lstat 6 -; newfstatat 262 79;
statx 332 291; access 21 -; faccessat 269 48; faccessat2 439 439; readlink 89 -;
readlinkat 267 78; getcwd 79 17; getdents64 217 61; statfs 137 43; fstatfs 138 44;
fadvise64 221 223; readahead 187 213; ftruncate 77 46; fallocate 285 47; fsync 74 82;
fdatasync 75 83; dup 32 23; dup2 33 -; dup3 292 24; flock 73 32; poll 7 -; ppoll 271 73;
select 23 -; pselect6 270 72; epoll_create1 291 20; epoll_ctl 233 21; epoll_wait 232 -;
epoll_pwait 281 22; eventfd2 290 19; pipe 22 -; pipe2 293 59; mmap 9 222; mprotect 10 226;
munmap 11 215; mremap 25 216; madvise 28 233; msync 26 227; mincore 27 232; brk 12 214;
memfd_create 319 279; membarrier 324 283; get_mempolicy 239 236; futex 202 98;
futex_waitv 449 449; set_robust_list 273 99; get_robust_list 274 100; rseq 334 293;
set_tid_address 218 96; arch_prctl 158 -; rt_sigaction 13 134; rt_sigprocmask 14 135;
rt_sigreturn 15 139; rt_sigpending 127 136; rt_sigtimedwait 128 137; sigaltstack 131 132;
pause 34 -; restart_syscall 219 128; getitimer 36 102; setitimer 38 103; nanosleep 35 101;
clock_nanosleep 230 115; clock_gettime 228 113; clock_getres 229 114; gettimeofday 96 169;
time 201 -; times 100 153; getrusage 98 165; getrlimit 97 163; sysinfo 99 179; uname 63 160;
getpid 39 172; getppid 110 173; gettid 186 178; getuid 102 174; geteuid 107 175; getgid 104 176;
getegid 108 177; getgroups 115 158; getpgrp 111 -; getpgid 121 155; getsid 124 156;
getcpu 309 168; getpriority 140 141; sched_yield 24 124; sched_getaffinity 204 123;
sched_setaffinity 203 122; sched_getparam 143 121; sched_getscheduler 145 120;
sched_get_priority_max 146 125; sched_get_priority_min 147 126; getrandom 318 278; wait4 61 260;
waitid 247 95; exit 60 93; exit_group 231 94
""")
"""Calls that read, compute, wait or end, and calls on files that are open."""

STOPPED = _table("""
socket 41 198; connect 42 203; bind 49 200; listen 50 201; accept 43 202; accept4 288 242;
fork 57 -; vfork 58 -; execve 59 221; execveat 322 281; creat 85 -; truncate 76 45; rename 82 -;
renameat 264 38; renameat2 316 276; link 86 -; linkat 265 37; symlink 88 -; symlinkat 266 36;
unlink 87 -; unlinkat 263 35; rmdir 84 -; mknod 133 -; mknodat 259 33; chmod 90 -; fchmod 91 52;
fchmodat 268 53; chown 92 -; fchown 93 55; lchown 94 -; fchownat 260 54; utime 132 -;
utimes 235 -; futimesat 261 -; utimensat 280 88; setxattr 188 5; lsetxattr 189 6; fsetxattr 190 7;
removexattr 197 14; lremovexattr 198 15; fremovexattr 199 16; chroot 161 51; pivot_root 155 41;
mount 165 40; umount2 166 39; setns 308 268; unshare 272 97; ptrace 101 117;
process_vm_readv 310 270; process_vm_writev 311 271; pidfd_getfd 438 438;
pidfd_send_signal 424 424; rt_sigqueueinfo 129 138; rt_tgsigqueueinfo 297 240;
open_by_handle_at 304 265; bpf 321 280; perf_event_open 298 241; init_module 175 105;
finit_module 313 273; kexec_load 246 104; keyctl 250 219; add_key 248 217; request_key 249 218;
setuid 105 146; setgid 106 144; setreuid 113 145; setregid 114 143; setresuid 117 147;
setresgid 119 149; setgroups 116 159; reboot 169 142; swapon 167 224; swapoff 168 225
""")
"""Calls that no decoder makes: the process ends."""

BY_ARGUMENT = _table("""
open 2 -; openat 257 56; clone 56 220; kill 62 129; tgkill 234 131; tkill 200 130; ioctl 16 29;
fcntl 72 25; prctl 157 167; prlimit64 302 261; mkdir 83 -; mkdirat 258 34
""")
"""Calls whose arguments decide (:mod:`paraply.sandbox.program`).

Every other call returns ENOSYS: libraries have a fallback for kernels without it. So glibc calls
``clone`` instead of ``clone3``, and ``openat`` instead of ``openat2``, whose arguments a filter
cannot read.
"""
