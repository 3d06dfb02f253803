// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '../errors.ts';
import { decodeCertificate, type Certificate } from '../pki/x509/certificate.ts';
import { readPemBlocks } from '../pki/der/pem.ts';
import { fail, skip, type AssertionResult } from './case.ts';
import {
  endText,
  firstOf,
  isSkipped,
  lastOf,
  type ScenarioResult,
  type ObjectVersion,
  type ObservedRequest,
} from './observed-request.ts';

/** A request with its decoded certificates. */
export interface IssuedLeaf {
  readonly request: ObservedRequest;
  readonly version: ObjectVersion;
  readonly leaf: Certificate;
  /** The leaf first. */
  readonly chain: readonly Certificate[];
}

/** The certificates of a PEM text, or what is wrong with it. */
export function readChain(pem: string): readonly Certificate[] | string {
  const read = attempt(() => pemBlocks(pem).map((der) => decodeCertificate(der)));
  if (read instanceof SignerError) return read.message;
  return read.length === 0 ? 'the text has no certificate' : read;
}

const BEGIN = '-----BEGIN ';
const END_LINE = /-----END [^-]+-----/g;

/**
 * Go skips text between blocks (RFC 7468 §5.2 allows it): so must who reads others' chains. Each character is read once: a
 * signer may write a megabyte of BEGIN lines.
 */
function pemBlocks(pem: string): readonly Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let at = pem.indexOf(BEGIN); at !== -1; at = pem.indexOf(BEGIN, END_LINE.lastIndex)) {
    END_LINE.lastIndex = at;
    if (!END_LINE.test(pem)) break;
    blocks.push(...readPemBlocks(pem.slice(at, END_LINE.lastIndex)).map(({ der }) => der));
  }
  return blocks;
}

/** The certificate of a scenario; where there is none to evaluate, the result that says why. */
export function issuedLeafOf(scenario: ScenarioResult): IssuedLeaf | AssertionResult {
  if (isSkipped(scenario)) return skip(scenario.skipped);
  if (scenario.rejection !== undefined)
    return skip(`the API server refused it: ${scenario.rejection}`);
  const version = firstOf(scenario, 'issued');
  if (version === undefined) return skip(unansweredText(scenario));
  const chain = readChain(version.pem);
  if (typeof chain === 'string') return fail(`the certificate cannot be read: ${chain}`);
  const [leaf] = chain;
  if (leaf === undefined) return fail('the text has no certificate');
  return { request: scenario, version, leaf, chain };
}

/** Whether there is no leaf but a result. */
export function isAssertionResult(value: IssuedLeaf | AssertionResult): value is AssertionResult {
  return 'outcome' in value;
}

/** Why a request has no certificate, as evidence. */
export function unansweredText(request: ObservedRequest): string {
  const last = lastOf(request);
  if (last === undefined) return `refused: ${request.rejection ?? ''}`;
  const seconds = Math.round(request.waitedMs / 1000);
  if (last.state === 'pending') return `not answered within ${seconds} s`;
  if (last.state === 'approved') return `approved, but no certificate after ${seconds} s`;
  return `no certificate was issued: ${endText(last)}`;
}
