// SPDX-License-Identifier: Apache-2.0
import { createHash, createPrivateKey, randomBytes, webcrypto } from 'node:crypto';
import { BitString, Integer, OctetString, PrintableString, type BaseBlock } from 'asn1js';
import {
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  CertificationRequest,
  CryptoEngine,
  ExtKeyUsage,
  Extension,
  GeneralName,
  GeneralNames,
  Time,
  TimeType,
} from 'pkijs';
import { readPem } from './read-pem.ts';
import type { Issue, Kind, Work } from './work.ts';

const engine = new CryptoEngine({ name: 'node', crypto: globalThis.crypto });
const SIGNING = { name: 'ECDSA', namedCurve: 'P-256' };

/**
 * pkijs straight, as its documentation has it: reads the request, fills a Certificate, signs it by
 * WebCrypto. What is the same in every leaf is made once. `whole`: it verifies the request, and the
 * leaf that it made.
 */
export async function issueByPkijs(work: Work, kind: Kind, whole: boolean): Promise<Issue> {
  const ca = Certificate.fromBER(readPem(work.certificate));
  const pkcs8 = createPrivateKey(work.key).export({ type: 'pkcs8', format: 'der' });
  const key = await webcrypto.subtle.importKey('pkcs8', pkcs8, SIGNING, false, ['sign']);
  const requests = work.requests[kind].map((each) => Uint8Array.from(Buffer.from(each, 'base64')));
  const fixed = fixedExtensions(ca);
  return async (index) => {
    const request = CertificationRequest.fromBER(
      requests[index % requests.length] ?? new Uint8Array(),
    );
    if (whole && !(await request.verify(engine))) throw new Error('not signed by its key');
    const leaf = new Certificate();
    leaf.version = 2;
    const serial = randomBytes(16);
    serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
    leaf.serialNumber = new Integer({ valueHex: Uint8Array.from(serial).buffer });
    leaf.issuer = ca.subject;
    const begin = Math.floor(Date.now() / 1000) * 1000 - 60_000;
    leaf.notBefore = new Time({ type: TimeType.UTCTime, value: new Date(begin) });
    leaf.notAfter = new Time({ type: TimeType.UTCTime, value: new Date(begin + 86_400_000) });
    leaf.subjectPublicKeyInfo = request.subjectPublicKeyInfo;
    if (kind === 'csr') fillSubject(leaf, request);
    leaf.extensions = [
      ...fixed,
      subjectKeyIdentifier(request),
      ...(kind === 'pcr' ? [podName()] : []),
    ];
    await leaf.sign(key, 'SHA-256', engine);
    const der = new Uint8Array(leaf.toSchema(true).toBER(false));
    if (whole && !(await Certificate.fromBER(der).verify(ca, engine))) throw new Error('not ours');
    return der;
  };
}

/** The common name and the organizations of a request, and nothing else of it. */
function fillSubject(leaf: Certificate, request: CertificationRequest): void {
  for (const { type, value } of request.subject.typesAndValues) {
    if (type !== '2.5.4.3' && type !== '2.5.4.10') continue;
    const text = value.valueBlock.value;
    leaf.subject.typesAndValues.push(
      new AttributeTypeAndValue({ type, value: new PrintableString({ value: text }) }),
    );
  }
}

function fixedExtensions(ca: Certificate): readonly Extension[] {
  const [identifier] = (ca.extensions ?? []).filter(({ extnID }) => extnID === '2.5.29.14');
  const keyIdentifier = new OctetString({
    valueHex: digest(ca.subjectPublicKeyInfo.subjectPublicKey),
  });
  if (identifier === undefined) throw new Error('the CA has no key identifier');
  const purposes = new ExtKeyUsage({ keyPurposes: ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'] });
  const bits = new BitString({ valueHex: Uint8Array.of(0x80).buffer, unusedBits: 7 });
  return [
    extension('2.5.29.15', true, bits),
    extension('2.5.29.37', false, purposes.toSchema()),
    extension('2.5.29.19', true, new BasicConstraints({ cA: false }).toSchema()),
    extension('2.5.29.35', false, new AuthorityKeyIdentifier({ keyIdentifier }).toSchema()),
  ];
}

function subjectKeyIdentifier({ subjectPublicKeyInfo }: CertificationRequest): Extension {
  const valueHex = digest(subjectPublicKeyInfo.subjectPublicKey);
  return extension('2.5.29.14', false, new OctetString({ valueHex }));
}

function podName(): Extension {
  const value = 'spiffe://cluster.local/ns/team-a/sa/web';
  const names = new GeneralNames({ names: [new GeneralName({ type: 6, value })] });
  return extension('2.5.29.17', true, names.toSchema());
}

function extension(extnID: string, critical: boolean, value: BaseBlock): Extension {
  return new Extension({ extnID, critical, extnValue: value.toBER(false) });
}

function digest(key: BitString): ArrayBuffer {
  return Uint8Array.from(createHash('sha1').update(key.valueBlock.valueHexView).digest()).buffer;
}
