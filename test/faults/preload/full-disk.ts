// SPDX-License-Identifier: Apache-2.0
/**
 * `--import`ed before a component: a file that may not grow beyond the limit of its process is a
 * write that fails (setrlimit(2), RLIMIT_FSIZE), as on a full disk. Without this the system would
 * end the process.
 */
process.on('SIGXFSZ', () => undefined);
