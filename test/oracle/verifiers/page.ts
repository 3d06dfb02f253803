// SPDX-License-Identifier: Apache-2.0
/** The table of docs/reference/verifiers.md. Run as a program, it writes the page again. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { openOracle, type Oracle } from '../oracle.ts';
import { verifierCases } from './cases.ts';
import { gnutlsVerifier, goVerifier, nodeVerifier, opensslVerifier } from './verifiers.ts';

export const PAGE = join(import.meta.dirname, '../../../docs/reference/verifiers.md');

/** Column → verifier. */
const COLUMNS = [
  'Go',
  'OpenSSL',
  'OpenSSL `-partial_chain`',
  'Node',
  'Node `allowPartialTrustChain`',
  'GnuTLS',
] as const;

const HEADER = /^\| Chain +\|/;

/** Returns the cells of the table, the header first. */
export function tableIn(page: string): readonly (readonly string[])[] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => HEADER.test(line));
  const rows = lines.slice(start).slice(0, lines.slice(start).indexOf(''));
  return rows
    .filter((line) => !/^\|[\s|:-]+$/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** Judges each case. The column of an absent verifier is `absent`. */
export async function judged(oracle: Oracle): Promise<readonly (readonly string[])[]> {
  const verifiers = [
    goVerifier(oracle),
    opensslVerifier(),
    opensslVerifier(['-x509_strict', '-partial_chain']),
    nodeVerifier(),
    nodeVerifier({ allowPartialTrustChain: true }),
    gnutlsVerifier(),
  ];
  const rows: string[][] = [];
  for (const chain of await verifierCases()) {
    const cells: string[] = [];
    for (const verify of verifiers) {
      cells.push(
        verify === undefined ? 'absent' : (await verify(chain)) ? 'accepts' : '**refuses**',
      );
    }
    rows.push([chain.name, ...cells]);
  }
  return [['Chain', ...COLUMNS], ...rows];
}

async function write(): Promise<void> {
  const oracle = await openOracle();
  try {
    const [header = [], ...rows] = await judged(oracle);
    if (rows.flat().includes('absent')) throw new Error('a verifier is absent; install gnutls-bin');
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
    const table = [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
    const page = readFileSync(PAGE, 'utf8').replace(/^\| Chain [^]*?\n(?=\n)/m, `${table}\n`);
    const options = { ...(await resolveConfig(PAGE)), parser: 'markdown' };
    writeFileSync(PAGE, await format(page, options));
  } finally {
    await oracle[Symbol.asyncDispose]();
  }
}

if (import.meta.main) await write();
