// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { KINDS, type Kind } from './work.ts';

/** What a leaf of each costs, from and to where; printed with the figures. */
export const COVERED = {
  'bare-sign': 'node:crypto sign() of as many bytes, P-256 and SHA-256; nothing else',
  issue: 'DER request → decode → names → times → to-be-signed bytes → sign → DER leaf',
  'issue-linted': 'issue, its bytes decoded again and linted before they are signed (prepare)',
  'issue-whole':
    'object → decide, the request’s signature verified → prepare, lint, path → sign → decode, correspond → PEM',
  library:
    'object → decide → what an author sees → openCa’s prepare, lint, sign → held to what was asked → PEM',
  'built-in':
    'object → decide → the same leaf by serving/local-issuing.ts, as the components do → PEM',
  pkijs: 'DER request → pkijs → Certificate → sign by WebCrypto → DER leaf',
  'pkijs-whole': 'pkijs, and the signatures of request and leaf verified',
  go: 'DER request → x509.ParseCertificateRequest → x509.CreateCertificate, which verifies its signature',
  'go-whole': 'go, and CheckSignature of the request, ParseCertificate and Verify of the leaf',
} as const;

export type ContenderName = keyof typeof COVERED;

export interface Contender {
  readonly name: ContenderName;
  readonly kind: Kind;
  readonly command: readonly [string, ...string[]];
}

/** Everybody for both kinds of requests; a bare signature has no kind. */
export function contenders(work: string, goIssuer: string): readonly Contender[] {
  const names = Object.keys(COVERED) as readonly ContenderName[];
  return KINDS.flatMap((kind) =>
    names.map((name) => ({ name, kind, command: commandOf({ name, kind, work, goIssuer }) })),
  );
}

function commandOf(of: {
  readonly name: ContenderName;
  readonly kind: Kind;
  readonly work: string;
  readonly goIssuer: string;
}): Contender['command'] {
  const { name, kind, work, goIssuer } = of;
  if (name === 'go') return [goIssuer, work, kind, 'issue'];
  if (name === 'go-whole') return [goIssuer, work, kind, 'whole'];
  return [process.execPath, join(import.meta.dirname, 'contender.ts'), work, name, kind];
}
