// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '#base/errors.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { readPemBlocks } from '#pki/der/pem.ts';
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
  /** The chain, leaf first. */
  readonly chain: readonly Certificate[];
}

/** Returns the certificates of a PEM text, or the fault of the text. */
export function readChain(pem: string): readonly Certificate[] | string {
  const read = attempt(() => pemBlocks(pem).map((der) => decodeCertificate(der)));
  if (read instanceof SignerError) return read.message;
  return read.length === 0 ? 'the text has no certificate' : read;
}

const BEGIN = '-----BEGIN ';
const END_LINE = /-----END [^-]+-----/g;

/**
 * Returns the blocks of a text. Go skips text between blocks, which RFC 7468 §5.2 allows, so a
 * reader of others' chains must do so, too. It reads each character once, because a signer may
 * write a megabyte of BEGIN lines.
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

/**
 * Returns the certificate of a scenario, or the result that explains why there is none to evaluate.
 */
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

/** Returns the server's clock when the certificate was seen: milliseconds since the epoch. */
export function deliveredAt({ request, version }: IssuedLeaf): number {
  return request.createdAt + version.at;
}

/** Reports whether the value is a result instead of a leaf. */
export function isAssertionResult(value: IssuedLeaf | AssertionResult): value is AssertionResult {
  return 'outcome' in value;
}

/** Returns why a request has no certificate, as evidence. */
export function unansweredText(request: ObservedRequest): string {
  const last = lastOf(request);
  if (last === undefined) return `refused: ${request.rejection ?? ''}`;
  const seconds = Math.round(request.waitedMs / 1000);
  if (last.state === 'pending') return `not answered within ${seconds} s`;
  if (last.state === 'approved') return `approved, but no certificate after ${seconds} s`;
  return `no certificate was issued: ${endText(last)}`;
}
