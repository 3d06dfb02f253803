// SPDX-License-Identifier: Apache-2.0
/** X.509, PKCS#10 and PEM: what a requester sends, and what a Secret or a bundle holds. */
import { SignerError } from '#base/errors.ts';
import { readPemBlocks } from '#pki/der/pem.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import { decodeCertificate, decodeTbs } from '#pki/x509/certificate.ts';
import { decodeRequest, isEmptyStub, verifyRequest } from '#pki/x509/pkcs10.ts';
import { requestedNames, unsupportedParts } from '#pki/x509/requested-names.ts';
import { readAnchors, writeAnchors } from '#pki/x509/trust-bundle.ts';
import type { Case } from '../../oracle/corpus/case.ts';
import { CORPUS } from '../../oracle/corpus/index.ts';
import { oid } from '../../support/pki/der.ts';
import type { Target } from '../engine.ts';

const isExpected = (error: unknown): boolean => error instanceof SignerError;
const MAX_SEED_BYTES = 4096;

/** Tags and OIDs that certificates and requests are made of. */
const WORDS = [
  '1.2.840.113549.1.9.14',
  '2.5.29.17',
  '2.5.29.15',
  '2.5.29.37',
  '2.5.29.19',
  '2.5.29.30',
  '2.5.29.14',
  '2.5.29.35',
  '2.5.4.3',
  '2.5.4.10',
  '1.2.840.10045.2.1',
  '1.3.101.112',
  '1.2.840.113549.1.1.1',
  '1.2.840.113549.1.1.11',
  '1.3.6.1.4.1.57683.2',
].map(oid);

export const certificate: Target = {
  name: 'certificate',
  seeds: seedsOf('certificate'),
  words: WORDS,
  maxBytes: 8192,
  isExpected,
  run: (input) => {
    const decoded = decodeCertificate(input);
    decodeTbs(decoded.tbs);
    const [again] = readAnchorsOf(writeAnchors([decoded]));
    if (again !== undefined && Buffer.compare(again.raw, input) !== 0) {
      throw new Error('a certificate that was read is written with other bytes');
    }
  },
};

export const request: Target = {
  name: 'request',
  seeds: seedsOf('request'),
  words: WORDS,
  maxBytes: 8192,
  isExpected,
  run: (input) => {
    const decoded = decodeRequest(input);
    isEmptyStub(decoded);
    checkKey(decoded.publicKey);
    requestedNames(decoded);
    unsupportedParts(decoded);
    verifyRequest(decoded);
  },
};

export const pem: Target = {
  name: 'pem',
  seeds: seedsOf('pem'),
  words: ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----', '\r\n', '=', '-----BEGIN '],
  maxBytes: 16_384,
  isExpected,
  run: (input) => {
    const text = Buffer.from(input).toString('utf8');
    readPemBlocks(text);
    readAnchors(text);
  },
};

/** Only an anchor may be in a bundle; other certificates are refused. */
function readAnchorsOf(text: string): ReturnType<typeof readAnchors> {
  try {
    return readAnchors(text);
  } catch (error) {
    if (isExpected(error)) return [];
    throw error;
  }
}

function seedsOf(kind: Case['kind']): readonly Uint8Array[] {
  return CORPUS.filter((each) => each.kind === kind)
    .map((each) => each.bytes())
    .filter(({ length }) => length <= MAX_SEED_BYTES);
}
