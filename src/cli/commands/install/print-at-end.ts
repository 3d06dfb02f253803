// SPDX-License-Identifier: Apache-2.0

/** The signals of Ctrl-C and of kill. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs `work` and then `print`, also if the work fails. A signal that ends this process runs
 * `print` first.
 *
 * @throws the errors of `work`
 */
export async function printAtEnd<T>(print: () => void, work: () => Promise<T>): Promise<T> {
  const stop = (signal: NodeJS.Signals): void => {
    print();
    release();
    // Without its handlers, the process ends as any other program does.
    process.kill(process.pid, signal);
  };
  const release = (): void => {
    for (const each of SIGNALS) process.off(each, stop);
  };
  for (const each of SIGNALS) process.on(each, stop);
  try {
    return await work();
  } finally {
    release();
    print();
  }
}
