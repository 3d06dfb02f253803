// SPDX-License-Identifier: Apache-2.0
/** A fuzzer that keeps what reaches something new, and tells what must not happen. */
import { createHash } from 'node:crypto';
import { branches, counters } from './instrument.ts';
import { mutate, picker } from './mutate.ts';

/** One parser, or one chain of them. */
export interface Target {
  readonly name: string;
  /** Inputs that it accepts. */
  readonly seeds: readonly Uint8Array[];
  /** Words of its format. */
  readonly words: readonly (Uint8Array | string)[];
  readonly maxBytes: number;
  /** Reads an input. Throws only what its contract names; `isExpected` tells. */
  readonly run: (input: Uint8Array) => void;
  readonly isExpected: (error: unknown) => boolean;
}

export interface Finding {
  readonly what: 'throws' | 'slow';
  readonly message: string;
  readonly input: Uint8Array;
}

export interface FuzzResult {
  readonly executions: number;
  /** Branches that ran, of those that the loaded modules have. */
  readonly reached: number;
  readonly branches: number;
  readonly corpus: readonly Uint8Array[];
  readonly findings: readonly Finding[];
}

export interface FuzzOptions {
  readonly seed: number;
  /** It ends after so many milliseconds of wall time, or so many inputs. */
  readonly forMs?: number;
  readonly maxInputs?: number;
  /** Inputs of earlier runs. */
  readonly corpus: readonly Uint8Array[];
  /** Told each ten seconds. */
  readonly onProgress?: (result: FuzzResult) => void;
}

/**
 * CPU time of the thread for one input, in milliseconds. What takes longer is run again before it
 * counts.
 */
const MAX_FETCH_MS = 20;
/** A slow run is garbage collection or compilation unless it is slow each time. */
const SLOW_TIMES = 5;
const MAX_FINDINGS = 20;
const PROGRESS_MS = 10_000;

export function fuzz(target: Target, options: FuzzOptions): FuzzResult {
  const pick = picker(options.seed);
  const words = target.words.map((each) => (typeof each === 'string' ? Buffer.from(each) : each));
  const corpus: Uint8Array[] = [];
  const findings = new Map<string, Finding>();
  const seen = new Uint8Array(counters.length);
  const state = { executions: 0, reached: 0 };
  const result = (): FuzzResult => ({
    ...state,
    branches: branches(),
    corpus,
    findings: [...findings.values()],
  });
  const attempt = (input: Uint8Array): void => {
    const finding = attempted(target, input);
    state.executions++;
    if (finding !== undefined && findings.size < MAX_FINDINGS) {
      const key = `${finding.what} ${finding.message}`;
      if (!findings.has(key)) findings.set(key, finding);
    }
    const reached = newBranches(seen);
    state.reached += reached.branches;
    if (reached.news) corpus.push(Uint8Array.from(input));
  };
  for (const input of [...target.seeds, ...options.corpus]) attempt(input);
  if (corpus.length === 0) corpus.push(new Uint8Array(0));
  const { forMs = Infinity, maxInputs = Infinity } = options;
  const end = performance.now() + forMs;
  let told = performance.now();
  for (let now = told; now < end && state.executions < maxInputs; now = performance.now()) {
    for (let batch = 0; batch < 64; batch++) {
      attempt(mutate({ corpus, words, maxBytes: target.maxBytes }, pick));
    }
    if (now - told < PROGRESS_MS) continue;
    told = now;
    options.onProgress?.(result());
  }
  return result();
}

/** The names of a corpus are its contents: two runs that find the same input keep it once. */
export function nameOf(input: Uint8Array): string {
  return createHash('sha256').update(input).digest('hex').slice(0, 16);
}

function attempted(target: Target, input: Uint8Array): Finding | undefined {
  counters.fill(0);
  const { took, error } = timed(target, input);
  if (error !== undefined && !target.isExpected(error)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error);
    return { what: 'throws', message: firstLines(message), input: Uint8Array.from(input) };
  }
  if (took <= MAX_FETCH_MS) return undefined;
  const reached = Uint8Array.from(counters);
  const least = Math.min(...Array.from({ length: SLOW_TIMES }, () => timed(target, input).took));
  counters.set(reached);
  if (least <= MAX_FETCH_MS) return undefined;
  const message = `${input.length} bytes take more than ${MAX_FETCH_MS} ms`;
  return { what: 'slow', message, input: Uint8Array.from(input) };
}

function timed(target: Target, input: Uint8Array): { took: number; error: unknown } {
  const before = process.threadCpuUsage();
  let error: unknown;
  try {
    target.run(input);
  } catch (thrown) {
    error = thrown;
  }
  const { user, system } = process.threadCpuUsage(before);
  return { took: (user + system) / 1000, error };
}

/** How often a branch ran counts by its power of two, as AFL has it. */
function newBranches(seen: Uint8Array): { branches: number; news: boolean } {
  let found = 0;
  let news = false;
  const most = Math.min(branches(), counters.length);
  for (let index = 0; index < most; index++) {
    const count = counters[index] ?? 0;
    if (count === 0) continue;
    const bit = 1 << Math.min(7, 31 - Math.clz32(count));
    const known = seen[index] ?? 0;
    if ((known & bit) !== 0) continue;
    if (known === 0) found++;
    seen[index] = known | bit;
    news = true;
  }
  return { branches: found, news };
}

function firstLines(text: string): string {
  return text.split('\n').slice(0, 4).join(' | ').slice(0, 600);
}
