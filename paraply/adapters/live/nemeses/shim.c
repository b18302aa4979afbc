/* Faults inside one server, preloaded with LD_PRELOAD.
 *
 * The harness shares one page with the process and its children (PARAPLY_SHIM names the file): it
 * writes the first part at any time, and reads the counters. shim.py has the same layout.
 *
 * - connect() to 127.0.0.1 is redirected to the member's hub, and the wanted port is noted under the
 *   connection's own port. The hub reads it there.
 * - fsync() and fdatasync() are delayed, or succeed without effect.
 * - Writes that make a file below the prefix longer fail with ENOSPC when the allowance is used up.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PREFIX_BYTES 256

struct page {
    uint32_t hub_port;
    uint32_t sync_delay_ms;
    uint32_t sync_dropped;
    uint32_t is_full;
    int64_t bytes_left;
    uint64_t syncs;
    uint64_t syncs_delayed;
    uint64_t syncs_dropped;
    uint64_t writes_refused;
    uint64_t connects;
    char prefix[PREFIX_BYTES];
    uint16_t wanted[65536];
};

static struct page *page;

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void attach(void) {
    const char *file = getenv("PARAPLY_SHIM");
    if (!file) return;
    int fd = open(file, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *found = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (found != MAP_FAILED) page = found;
}

static void count(uint64_t *counter) { __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED); }

int connect(int fd, const struct sockaddr *address, socklen_t length) {
    REAL(connect);
    const struct sockaddr_in *wanted = (const struct sockaddr_in *)address;
    uint32_t hub = page ? __atomic_load_n(&page->hub_port, __ATOMIC_RELAXED) : 0;
    if (!hub || length < sizeof *wanted || address->sa_family != AF_INET ||
        wanted->sin_addr.s_addr != htonl(INADDR_LOOPBACK) || ntohs(wanted->sin_port) == hub)
        return real(fd, address, length);
    int kind = 0;
    socklen_t size = sizeof kind;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) || kind != SOCK_STREAM)
        return real(fd, address, length);
    struct sockaddr_in own = {.sin_family = AF_INET};
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* A socket that is already bound keeps its port. */
    int saved = errno;
    (void)!bind(fd, (struct sockaddr *)&own, sizeof own);
    errno = saved;
    size = sizeof own;
    if (getsockname(fd, (struct sockaddr *)&own, &size) || !own.sin_port)
        return real(fd, address, length);
    page->wanted[ntohs(own.sin_port)] = ntohs(wanted->sin_port);
    struct sockaddr_in there = *wanted;
    there.sin_port = htons(hub);
    int result = real(fd, (struct sockaddr *)&there, sizeof there);
    count(&page->connects);
    return result;
}

/* Returns whether the call is to be dropped. */
static int before_sync(void) {
    if (!page) return 0;
    count(&page->syncs);
    uint32_t delay = __atomic_load_n(&page->sync_delay_ms, __ATOMIC_RELAXED);
    if (delay) {
        struct timespec rest = {delay / 1000, (long)(delay % 1000) * 1000000};
        while (nanosleep(&rest, &rest) && errno == EINTR) {}
        count(&page->syncs_delayed);
    }
    if (!__atomic_load_n(&page->sync_dropped, __ATOMIC_RELAXED)) return 0;
    count(&page->syncs_dropped);
    return 1;
}

int fsync(int fd) {
    REAL(fsync);
    return before_sync() ? 0 : real(fd);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    return before_sync() ? 0 : real(fd);
}

/* Returns whether a write of `bytes` at `offset` (-1: the current one) has no room. */
static int has_no_room(int fd, off_t offset, int64_t bytes) {
    if (!page || !__atomic_load_n(&page->is_full, __ATOMIC_RELAXED)) return 0;
    struct stat seen;
    if (fstat(fd, &seen) || !S_ISREG(seen.st_mode)) return 0;
    if (offset < 0)
        offset = fcntl(fd, F_GETFL) & O_APPEND ? seen.st_size : lseek(fd, 0, SEEK_CUR);
    int64_t longer = offset + bytes - seen.st_size;
    if (longer <= 0) return 0;
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    size_t prefix = strnlen(page->prefix, PREFIX_BYTES);
    if (length < (ssize_t)prefix || strncmp(name, page->prefix, prefix)) return 0;
    if (longer > bytes) longer = bytes;
    if (__atomic_sub_fetch(&page->bytes_left, longer, __ATOMIC_RELAXED) >= 0) return 0;
    __atomic_add_fetch(&page->bytes_left, longer, __ATOMIC_RELAXED);
    count(&page->writes_refused);
    return 1;
}

#define REFUSED(fd, offset, bytes) \
    if (has_no_room(fd, offset, (int64_t)(bytes))) { errno = ENOSPC; return -1; }

ssize_t write(int fd, const void *data, size_t bytes) {
    REAL(write);
    REFUSED(fd, -1, bytes)
    return real(fd, data, bytes);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset) {
    REAL(pwrite);
    REFUSED(fd, offset, bytes)
    return real(fd, data, bytes, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset) {
    REAL(pwrite64);
    REFUSED(fd, offset, bytes)
    return real(fd, data, bytes, offset);
}

static int64_t sum(const struct iovec *parts, int count) {
    int64_t bytes = 0;
    for (int n = 0; n < count; n++) bytes += (int64_t)parts[n].iov_len;
    return bytes;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    REFUSED(fd, -1, sum(parts, count))
    return real(fd, parts, count);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    REAL(pwritev);
    REFUSED(fd, offset, sum(parts, count))
    return real(fd, parts, count, offset);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes) {
    REAL(fallocate);
    if (!(mode & FALLOC_FL_PUNCH_HOLE)) REFUSED(fd, offset, bytes)
    return real(fd, mode, offset, bytes);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t bytes) {
    REAL(fallocate64);
    if (!(mode & FALLOC_FL_PUNCH_HOLE)) REFUSED(fd, offset, bytes)
    return real(fd, mode, offset, bytes);
}

int posix_fallocate(int fd, off_t offset, off_t bytes) {
    REAL(posix_fallocate);
    return has_no_room(fd, offset, bytes) ? ENOSPC : real(fd, offset, bytes);
}

int posix_fallocate64(int fd, off64_t offset, off64_t bytes) {
    REAL(posix_fallocate64);
    return has_no_room(fd, offset, bytes) ? ENOSPC : real(fd, offset, bytes);
}
