// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '../errors.ts';
import { decodeCertificate, type Certificate } from '../pki/x509/certificate.ts';
import { readPemBlocks } from '../pki/der/pem.ts';
import { fail, skip, type Verdict } from './case.ts';
import {
  endText,
  firstOf,
  isSkipped,
  lastOf,
  type Scene,
  type Snapshot,
  type Trial,
} from './observed-request.ts';

/** A request with its certificate, taken apart. */
export interface Issued {
  readonly trial: Trial;
  readonly snapshot: Snapshot;
  readonly leaf: Certificate;
  /** The leaf first. */
  readonly chain: readonly Certificate[];
}

/** The certificates of a PEM text, or what is wrong with it. */
export function readChain(pem: string): readonly Certificate[] | string {
  const read = attempt(() => pemBlocks(pem).map((der) => decodeCertificate(der)));
  if (read instanceof SignerError) return read.message;
  return read.length === 0 ? 'there is no certificate in the text' : read;
}

/** Go skips text between blocks (RFC 7468 §5.2 allows it): so must who reads others' chains. */
const BLOCK = /-----BEGIN [^-]+-----[^]*?-----END [^-]+-----/g;

function pemBlocks(pem: string): readonly Uint8Array[] {
  const blocks = pem.match(BLOCK) ?? [];
  return blocks.flatMap((block) => readPemBlocks(block).map(({ der }) => der));
}

/** The certificate of a scene; where there is none to judge, the verdict that says why. */
export function issuedOf(scene: Scene): Issued | Verdict {
  if (isSkipped(scene)) return skip(scene.skipped);
  if (scene.refusal !== undefined) return skip(`the API server refused it: ${scene.refusal}`);
  const snapshot = firstOf(scene, 'issued');
  if (snapshot === undefined) return skip(unansweredText(scene));
  const chain = readChain(snapshot.pem);
  if (typeof chain === 'string') return fail(`the certificate cannot be read: ${chain}`);
  const [leaf] = chain;
  if (leaf === undefined) return fail('there is no certificate in the text');
  return { trial: scene, snapshot, leaf, chain };
}

export function isVerdict(value: Issued | Verdict): value is Verdict {
  return 'outcome' in value;
}

/** What became of a request that has no certificate. */
export function unansweredText(trial: Trial): string {
  const last = lastOf(trial);
  if (last === undefined) return `refused: ${trial.refusal ?? ''}`;
  const seconds = Math.round(trial.waitedMs / 1000);
  if (last.state === 'pending') return `nobody answered it in ${seconds} s`;
  if (last.state === 'approved') return `approved, and without a certificate after ${seconds} s`;
  return `no certificate was issued: ${endText(last)}`;
}
