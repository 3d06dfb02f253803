// SPDX-License-Identifier: Apache-2.0

/** Prints one line of a step's real output. */
export type Tell = (text: string) => void;

interface Held {
  readonly title: string;
  readonly seconds: number;
  readonly error: string | undefined;
}

/** The demo's steps, in order: each is checked, timed and printed with its real output. */
export class Story {
  readonly #held: Held[] = [];
  #stopped = false;

  /** No further step begins. */
  stop(): void {
    this.#stopped = true;
  }

  /** Runs one step; a step that fails does not keep the others from being told. */
  async step<T>(title: string, run: (tell: Tell) => Promise<T>): Promise<T | undefined> {
    if (this.#stopped) return undefined;
    process.stdout.write(`\n▶ ${title}\n`);
    const started = Date.now();
    try {
      const result = await run(tell);
      this.#end(title, started, undefined);
      return result;
    } catch (error) {
      const message = error instanceof Error ? describe(error) : String(error);
      tell(`FAILED: ${message}`);
      this.#end(title, started, message);
      return undefined;
    }
  }

  /** Prints the table. @returns whether every step held */
  finish(): boolean {
    const width = Math.max(...this.#held.map(({ title }) => title.length));
    process.stdout.write(`\n${'step'.padEnd(width)}  seconds  held\n`);
    for (const { title, seconds, error } of this.#held) {
      const mark = error === undefined ? 'yes' : 'NO';
      process.stdout.write(`${title.padEnd(width)}  ${seconds.toFixed(1).padStart(7)}  ${mark}\n`);
    }
    const failed = this.#held.filter(({ error }) => error !== undefined).length;
    process.stdout.write(
      failed === 0
        ? `\nAll ${this.#held.length} steps held.\n`
        : `\n${failed} of ${this.#held.length} steps did not hold.\n`,
    );
    return failed === 0;
  }

  #end(title: string, started: number, error: string | undefined): void {
    this.#held.push({ title, seconds: (Date.now() - started) / 1000, error });
  }
}

function tell(text: string): void {
  for (const line of text.trimEnd().split('\n')) process.stdout.write(`    ${line}\n`);
}

function describe(error: Error): string {
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}
