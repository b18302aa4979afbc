/* Preloaded into a MySQL server, makes a row or a sync take a fixed time without a processor.
 *
 * A generated column calls COMPRESS() for each image of a row event. While the file $SLOW_WHILE
 * exists, the call for the row's new image sleeps $SLOW_ROW_US microseconds: an update has locked the
 * row by then. A sync of a file whose name contains $SLOW_SYNC_OF only sleeps, $SLOW_SYNC_US.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int sleep_for(const char *variable) {
  const char *only_while = getenv("SLOW_WHILE"), *value = getenv(variable);
  if (!only_while || !value || access(only_while, F_OK)) return 0;
  long us = atol(value);
  struct timespec time = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&time, NULL);
  return 1;
}

static int sleep_for_sync(int file) {
  char link[64], name[PATH_MAX];
  const char *wanted = getenv("SLOW_SYNC_OF");
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (!wanted || length < 0) return 0;
  name[length] = 0;
  return strstr(name, wanted) && sleep_for("SLOW_SYNC_US");
}

/* An update computes the old image before it locks the row, and the new one further down the stack:
 * in do_index_scan_and_update, and below it in do_exec_row. */
static int has_new_image(void) {
  static __thread char *shallowest = NULL;
  char *here = __builtin_frame_address(0);
  if (!shallowest || here > shallowest) shallowest = here;
  return here < shallowest;
}

int compress(unsigned char *to, unsigned long *to_length, const unsigned char *from,
             unsigned long from_length) {
  int (*real)(unsigned char *, unsigned long *, const unsigned char *, unsigned long) =
      dlsym(RTLD_NEXT, "compress");
  if (has_new_image()) sleep_for("SLOW_ROW_US");
  return real(to, to_length, from, from_length);
}

int fsync(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  return sleep_for_sync(file) ? 0 : real(file);
}

int fdatasync(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  return sleep_for_sync(file) ? 0 : real(file);
}
