/*
 * Lets User-Mode Linux run on processors with more registers than it knows: the kernel takes a process's extended state only as a
 * whole, so the part that is given replaces the beginning of the present state. Loaded with LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { EXTENDED_STATE = 0x202, LARGEST = 32768 };

static long call(long request, long pid, void *address, void *data) {
  return syscall(SYS_ptrace, request, pid, address, data);
}

long ptrace(enum __ptrace_request request, ...) {
  va_list words;
  va_start(words, request);
  int pid = va_arg(words, int);
  void *address = va_arg(words, void *);
  void *data = va_arg(words, void *);
  va_end(words);
  int isSet = request == PTRACE_SETREGSET;
  if ((request == PTRACE_GETREGSET || isSet) && (long)address == EXTENDED_STATE) {
    static __thread unsigned char state[LARGEST] __attribute__((aligned(64)));
    struct iovec *part = data, whole = {state, sizeof state};
    if (call(PTRACE_GETREGSET, pid, address, &whole) < 0) return -1;
    if (part->iov_len > whole.iov_len) part->iov_len = whole.iov_len;
    if (!isSet) {
      memcpy(part->iov_base, state, part->iov_len);
      return 0;
    }
    memcpy(state, part->iov_base, part->iov_len);
    return call(request, pid, address, &whole);
  }
  if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER) {
    long word;
    if (call(request, pid, address, &word) < 0) return -1;
    errno = 0;
    return word;
  }
  return call(request, pid, address, data);
}
