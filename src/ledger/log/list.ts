// SPDX-License-Identifier: Apache-2.0
/**
 * The signed list of a ledger's logs. A verifier that knows one key finds all logs and their keys
 * in it.
 */
import { badNote, formatVerifierKey, openNote, parseVerifierKey, signNote } from './note.ts';
import type { NoteSigner, NoteVerifier } from './note.ts';

const HEADER = 'countersign.dev/ledger-logs@v1';

/** One log of a ledger. */
export interface ListedLog {
  /** The log's key. Its name is the log's origin. */
  readonly verifier: NoteVerifier;
  /** Final size of the log. Absent while the log is open. */
  readonly frozenAt?: number;
}

/**
 * Signs the list as a note, oldest log first.
 * @param signers - the key of the newest log, and keys of earlier logs that verifiers may know
 */
export function signLogList(logs: readonly ListedLog[], signers: readonly NoteSigner[]): string {
  const lines = logs.map(({ verifier, frozenAt }) => {
    const state = frozenAt === undefined ? 'open' : `frozen ${frozenAt}`;
    return `${formatVerifierKey(verifier)} ${state}\n`;
  });
  return signNote(`${HEADER}\n${lines.join('')}`, signers);
}

/**
 * Reads a list that one of `verifiers` signed.
 *
 * @throws SignerError LEDGER_MALFORMED
 */
export function openLogList(
  note: string,
  verifiers: readonly NoteVerifier[],
): readonly ListedLog[] {
  const [header, ...lines] = openNote(note, verifiers).text.trimEnd().split('\n');
  if (header !== HEADER) throw badNote('it is not a list of logs');
  const logs = lines.map(parseLine);
  if (logs.slice(0, -1).some(({ frozenAt }) => frozenAt === undefined)) {
    throw badNote('a log that is not the last one of the list is open');
  }
  return logs;
}

function parseLine(line: string): ListedLog {
  const [, key = '', size] = /^(\S+) (?:open|frozen (0|[1-9]\d{0,15}))$/.exec(line) ?? [];
  const verifier = parseVerifierKey(key);
  return size === undefined ? { verifier } : { verifier, frozenAt: Number(size) };
}
