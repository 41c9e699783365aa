/*
 * A wall clock for tests, loaded by LD_PRELOAD. FAKE_CLOCK names a file with the seconds to add to the machine's time. A program
 * that sets the clock writes this file. Containers share the kernel's clock and may not set it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long offset_s(void) {
  char text[32] = "0";
  const char *path = getenv("FAKE_CLOCK");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    text[length < 0 ? 0 : length] = '\0';
    close(file);
  }
  return atoll(text);
}

static void real(struct timespec *now) { syscall(SYS_clock_gettime, CLOCK_REALTIME, now); }

int clock_gettime(clockid_t id, struct timespec *now) {
  if (syscall(SYS_clock_gettime, id, now) != 0) return -1;
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec += offset_s();
  return 0;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}

int clock_settime(clockid_t id, const struct timespec *wanted) {
  struct timespec now;
  FILE *file = fopen(getenv("FAKE_CLOCK"), "w");
  (void)id;
  if (file == NULL) return -1;
  real(&now);
  fprintf(file, "%lld\n", (long long)wanted->tv_sec - (long long)now.tv_sec);
  return fclose(file);
}

int settimeofday(const struct timeval *wanted, const struct timezone *zone) {
  struct timespec precise = {.tv_sec = wanted->tv_sec, .tv_nsec = wanted->tv_usec * 1000};
  (void)zone;
  return clock_settime(CLOCK_REALTIME, &precise);
}
