// SPDX-License-Identifier: Apache-2.0
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { ContentInfo, SignedData, Certificate } from 'pkijs';
import { SignerError, usageError } from '#base/errors.ts';
import { decodePkcs12 } from '#pki/keystores/decode-pkcs12.ts';
import { quote } from '#base/quote.ts';
import type { InspectedItem, InspectedKey } from './inspected.ts';
import { readCertificateDer, readListDer, readRequestDer, refusalOfRequest } from './read-der.ts';
import { keyOfSpki } from './read-fields.ts';

/** Bytes to inspect, and the name of their source. */
export interface Material {
  readonly source: string;
  readonly bytes: Uint8Array;
  /**
   * True for a `spec.stubPKCS10Request`. A kubelet signs it to prove its key, without any name
   * (KEP-4317), so the rules for requests do not apply.
   */
  readonly isStub?: true;
  /** Signer name of the request whose certificate it is. */
  readonly signer?: string;
}

/** Access to protected material. */
export interface Secrets {
  /** Prompts for the password of a PKCS#12 file. */
  readonly pkcs12Password: (source: string) => Promise<string>;
}

/** Maximum size of the input. Certificates and bundles of the API server are smaller. */
const MAX_MATERIAL_BYTES = 8 * 1024 * 1024;

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 #]{1,64})-----([^-]*)-----END \1-----/g;

type Reader = (
  der: Uint8Array,
  source: string,
  secrets: Secrets,
) => InspectedItem | Promise<InspectedItem> | Promise<readonly InspectedItem[]>;

const BY_LABEL: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['CERTIFICATE', readCertificateDer],
  ['X509 CERTIFICATE', readCertificateDer],
  ['TRUSTED CERTIFICATE', readCertificateDer],
  ['CERTIFICATE REQUEST', readRequestDer],
  ['NEW CERTIFICATE REQUEST', readRequestDer],
  ['X509 CRL', readListDer],
  ['PKCS7', readPkcs7],
  ['CMS', readPkcs7],
  ['PRIVATE KEY', privateKey('pkcs8')],
  ['EC PRIVATE KEY', privateKey('sec1')],
  ['RSA PRIVATE KEY', privateKey('pkcs1')],
  ['ENCRYPTED PRIVATE KEY', encryptedKey],
  ['PUBLIC KEY', publicKey],
]);

/** Readers of DER without a label, in the order of the attempts. */
const UNLABELLED: readonly Reader[] = [
  readCertificateDer,
  readRequestDer,
  readListDer,
  readPkcs7,
  privateKey('pkcs8'),
  privateKey('sec1'),
  privateKey('pkcs1'),
  publicKey,
  readPkcs12,
];

/**
 * Reads PEM with any text around its blocks, or one DER certificate, PKCS#10 request, CRL, key,
 * PKCS#7 or PKCS#12 file. The result holds only the public half of a private key.
 *
 * @throws SignerError USAGE (`fail`) for bytes in another format
 */
export async function readMaterial(
  { isStub, signer, ...material }: Material,
  secrets: Secrets,
): Promise<readonly InspectedItem[]> {
  const found = await readBytes(material, secrets);
  const asked = isStub === true ? found.map(asStub) : found;
  return signer === undefined ? asked : asked.map((each) => ({ ...each, signer }));
}

function asStub({ what, ...rest }: InspectedItem): InspectedItem {
  if (what.kind !== 'request') return { what, ...rest };
  const { refusedBecause: _ofRequests, ...of } = what;
  return { what: { ...of, isStub: true }, ...rest };
}

async function readBytes(
  { source, bytes }: Material,
  secrets: Secrets,
): Promise<readonly InspectedItem[]> {
  if (bytes.length > MAX_MATERIAL_BYTES)
    throw unreadable(source, `it has more than ${MAX_MATERIAL_BYTES} bytes`);
  if (bytes.length === 0) throw unreadable(source, 'it is empty');
  const text = Buffer.from(bytes).toString('latin1');
  if (!text.includes('-----BEGIN ')) return readUnlabelled(bytes, source, secrets);
  const found: InspectedItem[] = [];
  const blocks = [...text.matchAll(PEM_BLOCK)];
  if (blocks.length === 0) throw unreadable(source, 'a PEM block in it has no end');
  for (const [index, [, label = '', body = '']] of blocks.entries()) {
    const name = blocks.length === 1 ? source : `${source} #${index + 1}`;
    found.push(...(await readBlock(label, body, name, secrets)));
  }
  return blocks.length === 1 ? found.map((each) => judgedWhole(each, text)) : found;
}

/** Judges a request with the text around its block, as `spec.request` would have it. */
function judgedWhole(found: InspectedItem, text: string): InspectedItem {
  const { what } = found;
  if (what.kind !== 'request' || what.refusedBecause !== undefined) return found;
  return { ...found, what: { ...what, ...refusalOfRequest(text) } };
}

async function readBlock(
  label: string,
  body: string,
  source: string,
  secrets: Secrets,
): Promise<readonly InspectedItem[]> {
  // OpenSSL writes these parameters before a key, which contains them as well.
  if (label === 'EC PARAMETERS') return [];
  const reader = BY_LABEL.get(label);
  if (reader === undefined)
    throw unreadable(source, `countersign cannot read a block ${quote(label)}`);
  // Old encrypted keys have headers (RFC 1421).
  if (body.includes('Proc-Type:')) return [encryptedKey(new Uint8Array(), source)];
  const der = Buffer.from(body, 'base64');
  try {
    return [await reader(der, source, secrets)].flat();
  } catch (error) {
    if (error instanceof SignerError) throw error;
    throw unreadable(source, `its ${label} block is damaged`);
  }
}

async function readUnlabelled(
  der: Uint8Array,
  source: string,
  secrets: Secrets,
): Promise<readonly InspectedItem[]> {
  if (der[0] !== 0x30) throw unreadable(source, foreignFormat(der));
  for (const reader of UNLABELLED) {
    try {
      return [await reader(der, source, secrets)].flat();
    } catch (error) {
      // The last reader, for PKCS#12, is the only one that throws a SignerError.
      if (error instanceof SignerError) throw error;
    }
  }
  throw unreadable(source, 'its DER is none of the kinds');
}

/** Names the formats that people meet beside PEM and DER, and what makes PEM of them. */
function foreignFormat(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  // RFC 2781 §3.2: the byte order mark of UTF-16.
  if (head.startsWith('fffe') || head.startsWith('feff'))
    return 'it is in UTF-16, as Windows PowerShell writes by ">": write it again in ASCII, as by Out-File -Encoding ascii';
  if (head === 'feedfeed' || head === 'cececece')
    return 'it is a Java keystore (JKS): convert it by keytool -importkeystore -deststoretype pkcs12';
  const text = Buffer.from(bytes).toString('latin1');
  if (/^\s*\{?\s*"?(apiVersion|kind)"?\s*:/m.test(text))
    return 'it is a Kubernetes object: name it as secret/NAME or configmap/NAME, or write the PEM of its data into a file of its own';
  if (Buffer.from(text, 'base64').toString('latin1').startsWith('-----BEGIN '))
    return 'it is PEM in base64, as the data of a Secret: decode it, as by base64 --decode';
  return 'it is neither PEM nor DER';
}

/** Reads the certificates of a PKCS#7 file, in its order. */
function readPkcs7(der: Uint8Array, source: string): Promise<readonly InspectedItem[]> {
  const info = ContentInfo.fromBER(Uint8Array.from(der).buffer);
  const { certificates = [] } = new SignedData({ schema: info.content });
  const found = certificates
    .filter((each) => each instanceof Certificate)
    .map((each, index) =>
      readCertificateDer(new Uint8Array(each.toSchema().toBER(false)), `${source} #${index + 1}`),
    );
  return Promise.resolve(found);
}

async function readPkcs12(
  der: Uint8Array,
  source: string,
  { pkcs12Password }: Secrets,
): Promise<readonly InspectedItem[]> {
  // A PKCS#12 file has version 3 (RFC 7292 §4). Without it, do not prompt for a password.
  if (!Buffer.from(der.subarray(0, 16)).toString('hex').includes('020103')) throw new TypeError();
  const { keys, certificates } = await decodePkcs12(der, await pkcs12Password(source));
  const ofKeys = keys.map(({ pkcs8, alias }) => named(privateKey('pkcs8')(pkcs8, source), alias));
  const others = certificates.map((each, index) =>
    named(readCertificateDer(each.der, `${source} #${index + 1}`), each.alias),
  );
  return [...ofKeys, ...others];
}

function named(found: InspectedItem, alias: string | undefined): InspectedItem {
  const { what } = found;
  if (alias === undefined || (what.kind !== 'certificate' && what.kind !== 'private key'))
    return found;
  return { ...found, what: { ...what, alias } };
}

function privateKey(
  type: 'pkcs8' | 'sec1' | 'pkcs1',
): (der: Uint8Array, source: string) => InspectedItem {
  return (der, source) => {
    const key = createPrivateKey({ key: Buffer.from(der), format: 'der', type });
    return {
      what: {
        kind: 'private key',
        source,
        isEncrypted: false,
        key: inspectedKey(createPublicKey(key)),
      },
    };
  };
}

function encryptedKey(_der: Uint8Array, source: string): InspectedItem {
  return { what: { kind: 'private key', source, isEncrypted: true } };
}

function publicKey(der: Uint8Array, source: string): InspectedItem {
  const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  return { what: { kind: 'public key', source, key: inspectedKey(key) } };
}

function inspectedKey(key: KeyObject): InspectedKey {
  return keyOfSpki(key.export({ type: 'spki', format: 'der' }), key.asymmetricKeyType ?? '');
}

function unreadable(source: string, why: string): SignerError {
  return usageError(
    `${source} cannot be read: ${why}; countersign reads PEM, DER, PKCS#7 and PKCS#12: certificates, requests, CRLs and keys`,
  );
}
