// SPDX-License-Identifier: Apache-2.0
/** Chains below CAs of a ceremony, which verifiers judge differently. */
import { readCeremony } from '#ca/ceremony/ceremony-file.ts';
import { planCross, planIntermediates, planRoot } from '#ca/ceremony/plan-certificate.ts';
import { issuingCa } from '#ca/ceremony/issuing-ca.ts';
import { signCertificate } from '#ca/ceremony/sign.ts';
import { caKeyOf, type CaKey } from '#ca/custody/ca-key.ts';
import { encodeCaTbs } from '#ca/issuance/ca-tbs.ts';
import { newSerial } from '#ca/issuance/signing-ca.ts';
import { formatTime } from '#api/object/time.ts';
import { OID_CLIENT_AUTH, OID_SERVER_AUTH } from '#pki/der/oids.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  extKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
} from '#pki/extensions/encode-extensions.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';
import { INTERMEDIATE, ROOT, CROSS, ceremonyOf, changed } from '../../support/ca/ceremony.ts';
import { NOW, random } from '../../support/ca/issuing.ts';
import { privateKey } from '../../support/pki/keys.ts';

/** A leaf with the chain that a server sends, and the anchor that a client has. */
export interface VerifierCase {
  readonly name: string;
  readonly leaf: Uint8Array;
  readonly intermediates: readonly Uint8Array[];
  readonly anchor: Uint8Array;
}

const DAY = 86_400_000;
const PERIOD = { notBefore: formatTime(NOW - DAY), notAfter: formatTime(NOW + 30 * DAY) };

const keyOf = (name: string): CaKey => caKeyOf(privateKey('P-256', name));
/** The key of every leaf. */
export const LEAF_KEY = privateKey('P-256', 'leaf');

async function rootOf(name: string, fields: object = {}): Promise<Certificate> {
  const subject = { commonName: name };
  const root = changed(ROOT, { subject, ...PERIOD, ...fields });
  const key = keyOf(name);
  const own = { spki: key.spki, algorithm: key.algorithm.der };
  const plan = planRoot(readCeremony(ceremonyOf({ root }), name), own, random);
  return decodeCertificate(await signCertificate(plan, key));
}

async function intermediateOf(root: Certificate, fields: object = {}): Promise<Certificate> {
  const intermediate = changed(INTERMEDIATE, { ...PERIOD, ...fields });
  const file = readCeremony(ceremonyOf({ intermediate }), 'intermediate');
  const [plan] = planIntermediates(file, root, [keyOf('intermediate').spki], random);
  if (plan === undefined) throw new Error('no plan');
  return decodeCertificate(await signCertificate(plan, keyOf('root')));
}

interface LeafNames {
  readonly commonName?: string;
  readonly dns?: string;
  readonly uri?: string;
}

/** Signs a leaf by a CA, without the checks of our own issuance: some chains are to be refused. */
async function leafOf(by: Certificate, key: CaKey, names: LeafNames): Promise<Uint8Array> {
  const { commonName = '', dns, uri } = names;
  const issuer = issuingCa(by, 'keyCertSign');
  const { spki } = caKeyOf(LEAF_KEY);
  const sans = {
    dnsNames: dns === undefined ? [] : [dns],
    uris: uri === undefined ? [] : [uri],
    ipAddresses: [],
    emails: [],
  };
  const tbs = encodeTbs({
    serial: newSerial(random),
    signatureAlgorithm: issuer.signatureAlgorithm,
    issuer: issuer.subject,
    notBefore: NOW - DAY,
    notAfter: NOW + DAY,
    subject: encodeName({ commonName, organizations: [], organizationalUnits: [] }),
    spki,
    extensions: [
      keyUsage(['digitalSignature']),
      extKeyUsage([OID_SERVER_AUTH, OID_CLIENT_AUTH]),
      basicConstraints({ ca: false }),
      subjectKeyIdentifier(spki),
      authorityKeyIdentifier(issuer.keyIdentifier),
      subjectAltName(sans, commonName === ''),
    ],
  });
  return encodeCertificate(tbs, key.algorithm.der, await key.sign(tbs));
}

/** An intermediate below a root of path length 0, which no ceremony makes. */
async function forbiddenIntermediate(root: Certificate): Promise<Certificate> {
  const key = keyOf('root');
  const subject = { commonName: 'Forbidden', organizations: [], organizationalUnits: [] };
  const tbs = encodeCaTbs({
    issuer: issuingCa(root, 'keyCertSign'),
    subject: encodeName(subject),
    spki: keyOf('intermediate').spki,
    notBefore: NOW - DAY,
    notAfter: NOW + DAY,
    pathLen: 0,
    random,
  });
  return decodeCertificate(encodeCertificate(tbs, key.algorithm.der, await key.sign(tbs)));
}

const DNS = { nameConstraints: { dns: { permitted: ['example.com'] } } };
const URI = { nameConstraints: { uris: { permitted: ['example.com'] } } };
const INSIDE = 'spiffe://example.com/ns/a/sa/b';
const OUTSIDE = 'spiffe://other.example/ns/a/sa/b';

/** Returns the cases, in the order of the table of docs/reference/verifiers.md. */
export async function verifierCases(): Promise<readonly VerifierCase[]> {
  const root = await rootOf('root');
  const plain = await intermediateOf(root);
  const dns = await intermediateOf(root, DNS);
  const uri = await intermediateOf(root, URI);
  const key = keyOf('intermediate');
  const below = async (
    name: string,
    by: Certificate,
    names: LeafNames,
    anchor = root,
  ): Promise<VerifierCase> => ({
    name,
    leaf: await leafOf(by, key, names),
    intermediates: anchor === by ? [] : [by.raw],
    anchor: anchor.raw,
  });
  const short = await rootOf('root', { pathLength: 0 });
  return [
    await below('root, intermediate, leaf', plain, { dns: 'a.example.com' }),
    await crossCase(root),
    await below(
      'path length of the root exceeded',
      await forbiddenIntermediate(short),
      {
        dns: 'a.example.com',
      },
      short,
    ),
    await below('DNS constraint, leaf inside', dns, { dns: 'a.example.com' }),
    await below('DNS constraint, leaf outside', dns, { dns: 'a.other.example' }),
    await below('DNS constraint, leaf with a URI only', dns, { uri: INSIDE }),
    await below('DNS constraint, leaf with a common name and a URI', dns, {
      commonName: 'web',
      uri: INSIDE,
    }),
    await below('URI constraint, leaf of the trust domain', uri, { uri: INSIDE }),
    await below('URI constraint, leaf of a foreign trust domain', uri, { uri: OUTSIDE }),
    await below('the anchor is the intermediate', plain, { dns: 'a.example.com' }, plain),
  ];
}

async function crossCase(root: Certificate): Promise<VerifierCase> {
  const other = await rootOf('other root', { pathLength: 0 });
  const file = readCeremony(ceremonyOf({ cross: changed(CROSS, PERIOD) }), 'cross');
  const cross = await signCertificate(planCross(file, root, other, random), keyOf('root'));
  return {
    name: 'cross-certificate of another root',
    leaf: await leafOf(other, keyOf('other root'), { dns: 'a.example.com' }),
    intermediates: [cross],
    anchor: root.raw,
  };
}
