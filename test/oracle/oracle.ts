// SPDX-License-Identifier: Apache-2.0
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { buildOracle } from './build.ts';

/** How far something came: refused at once, read but refused, accepted. */
export const REFUSED = 0;
export const PARSED = 1;
export const ACCEPTED = 2;

export interface Answer {
  readonly level: number;
  /** Why not; of what is accepted, what else there is to say. */
  readonly reason: string;
}

/**
 * What is asked: a request, a certificate, PEM of a request, PEM of a bundle, a chain (`chainOf`),
 * a chain whose leaf is linted, the same below an ML-DSA-65 root, an ML-DSA-65 signature, a URI, a
 * CRL with the CA that signed it (`chainOf`, with the CRL as its leaf), what a certificate says.
 */
export type Question = 'r' | 'c' | 'p' | 'b' | 'v' | 'l' | 'm' | 's' | 'u' | 'k' | 'f';

/** Go's verdicts, in the order of the questions; many may be open at once. */
export interface Oracle extends AsyncDisposable {
  ask(kind: Question, data: Uint8Array): Promise<Answer>;
}

type Program = ChildProcessByStdio<Writable, Readable, null>;

/** Starts the program of `program/`, which is built first where that is needed. */
export async function openOracle(): Promise<Oracle> {
  const child = spawn(await buildOracle(), [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const open = new Questions();
  void collect(child, (answer) => open.answer(answer)).then(() => open.abandon());
  return {
    ask: (kind, data) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(1 + data.length);
      child.stdin.write(Buffer.concat([length, Buffer.from(kind), data]));
      return open.add();
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await once(child, 'close');
      if (child.exitCode !== 0) throw new Error(`the oracle ended with ${child.exitCode}`);
    },
  };
}

/** Questions that wait for their answers, which come in the same order. */
class Questions {
  readonly #waiting: PromiseWithResolvers<Answer>[] = [];
  #answered = 0;

  add(): Promise<Answer> {
    const next = Promise.withResolvers<Answer>();
    this.#waiting.push(next);
    return next.promise;
  }

  answer(answer: Answer): void {
    this.#waiting[this.#answered]?.resolve(answer);
    this.#answered += 1;
    if (this.#answered < this.#waiting.length) return;
    this.#waiting.length = 0;
    this.#answered = 0;
  }

  abandon(): void {
    for (const each of this.#waiting) each.reject(new Error('the oracle has ended'));
  }
}

/** Takes the answers apart: four bytes of length, the level, the reason. */
async function collect(child: Program, found: (answer: Answer) => void): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const end = at + 4 <= all.length ? at + 4 + all.readUInt32BE(at) : Infinity;
      if (end > all.length) break;
      found({ level: all.readUInt8(at + 4), reason: all.toString('utf8', at + 5, end) });
      at = end;
    }
    rest = all.subarray(at);
  }
}

export interface ChainParts {
  readonly leaf: Uint8Array;
  readonly intermediates: readonly Uint8Array[];
  readonly roots: readonly Uint8Array[];
  /** Milliseconds. */
  readonly now: number;
}

/** The data of a question about a chain. */
export function chainOf({ leaf, intermediates, roots, now }: ChainParts): Uint8Array {
  const seconds = Buffer.alloc(8);
  seconds.writeBigInt64BE(BigInt(Math.floor(now / 1000)));
  return Buffer.concat([
    seconds,
    ...prefixed(leaf),
    ...intermediates.flatMap((der) => [Uint8Array.of(0), ...prefixed(der)]),
    ...roots.flatMap((der) => [Uint8Array.of(1), ...prefixed(der)]),
  ]);
}

function prefixed(der: Uint8Array): readonly Uint8Array[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(der.length);
  return [length, der];
}
