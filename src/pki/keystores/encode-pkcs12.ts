// SPDX-License-Identifier: Apache-2.0
import { createHash, webcrypto } from 'node:crypto';
import { BmpString, ObjectIdentifier, OctetString } from 'asn1js';
import {
  Attribute,
  AuthenticatedSafe,
  CertBag,
  CryptoEngine,
  PFX,
  PKCS8ShroudedKeyBag,
  SafeBag,
  SafeContents,
} from 'pkijs';
import { OID_ANY_EXTENDED_KEY_USAGE } from '../der/oids.ts';
import { requirePassword } from './password.ts';
import {
  OID_CERT_BAG,
  OID_DATA,
  OID_FRIENDLY_NAME,
  OID_LOCAL_KEY_ID,
  OID_SHROUDED_KEY_BAG,
  OID_TRUSTED_KEY_USAGE,
  OID_X509_CERTIFICATE,
} from './pkcs12-oids.ts';

/** A private key and the chain of its certificate. */
export interface KeyEntry {
  /** Java's alias, and OpenSSL's friendlyName. */
  readonly alias: string;
  /** DER PrivateKeyInfo (RFC 5958). */
  readonly pkcs8: Uint8Array;
  /** The chain in DER, with the certificate of the key first. */
  readonly chain: readonly Uint8Array[];
}

/**
 * A certificate that Java treats as a trust anchor. The bag has Oracle's attribute trustedKeyUsage.
 */
export interface TrustedEntry {
  /** A unique alias: Java drops the first of two with one alias. */
  readonly alias: string;
  /** DER. */
  readonly certificate: Uint8Array;
}

/** The contents of a PKCS#12 file. */
export interface KeyStore {
  readonly keys?: readonly KeyEntry[];
  readonly trusted?: readonly TrustedEntry[];
}

/**
 * Rounds of PBKDF2 and of the MAC's derivation. They are equal, because an attacker tries the
 * cheaper of the two. Java rejects more than 5,000,000.
 */
const ITERATIONS = 100_000;

const AES_256_CBC = { name: 'AES-CBC', length: 256 };

/**
 * Encodes a PKCS#12 file (RFC 7292) for OpenSSL 3 and Java 8u301: PBES2 with AES-256-CBC and
 * PBKDF2-HMAC-SHA-256 for keys and certificates, HMAC-SHA-256 over the whole.
 *
 * By default, salts are random. The same entries give other bytes each time, so compare the decoded
 * contents.
 *
 * @param password - protects all. It must be printable ASCII, since programs encode other
 *   characters differently.
 * @param crypto - the source of salts
 * @returns DER
 * @throws SignerError USAGE (`fail`) for a password that not every program reads
 */
export async function encodePkcs12(
  { keys = [], trusted = [] }: KeyStore,
  password: string,
  crypto: Pick<webcrypto.Crypto, 'subtle' | 'getRandomValues'> = webcrypto,
): Promise<Uint8Array> {
  // The engine calls only these two members.
  const engine = new CryptoEngine({ name: 'node', crypto: crypto as webcrypto.Crypto });
  const secret = bufferOf(Buffer.from(requirePassword(password), 'ascii'));
  const keyBags = await Promise.all(keys.map((each) => keyBagOf(each, secret, engine)));
  const certificates = [...keys.flatMap(chainBagsOf), ...trusted.map(trustedBagOf)];
  // Encrypts keys one by one and certificates together, as OpenSSL and Java do.
  const safes = [
    ...(keyBags.length === 0 ? [] : [{ privacyMode: 0, value: contentsOf(keyBags) }]),
    { privacyMode: 1, value: contentsOf(certificates) },
  ];
  const safe = new AuthenticatedSafe({ parsedValue: { safeContents: safes } });
  await safe.makeInternalValues(
    { safeContents: safes.map((each) => (each.privacyMode === 0 ? {} : encryptionOf(secret))) },
    engine,
  );
  const file = new PFX({ parsedValue: { integrityMode: 0, authenticatedSafe: safe } });
  await file.makeInternalValues(
    {
      password: secret,
      iterations: ITERATIONS,
      pbkdf2HashAlgorithm: 'SHA-256',
      hmacHashAlgorithm: 'SHA-256',
    },
    engine,
  );
  return new Uint8Array(file.toSchema().toBER(false));
}

function encryptionOf(password: ArrayBuffer): object {
  return {
    password,
    contentEncryptionAlgorithm: AES_256_CBC,
    hmacHashAlgorithm: 'SHA-256',
    iterationCount: ITERATIONS,
  };
}

async function keyBagOf(
  { alias, pkcs8, chain }: KeyEntry,
  password: ArrayBuffer,
  engine: CryptoEngine,
): Promise<SafeBag> {
  const { contentEncryptionAlgorithm, encryptedContent } = await engine.encryptEncryptedContentInfo(
    {
      password,
      contentEncryptionAlgorithm: AES_256_CBC,
      hmacHashAlgorithm: 'SHA-256',
      iterationCount: ITERATIONS,
      contentToEncrypt: bufferOf(pkcs8),
      contentType: OID_DATA,
    },
  );
  if (encryptedContent === undefined) throw new Error('pkijs encrypted no key');
  return new SafeBag({
    bagId: OID_SHROUDED_KEY_BAG,
    bagValue: new PKCS8ShroudedKeyBag({
      encryptionAlgorithm: contentEncryptionAlgorithm,
      encryptedData: encryptedContent,
    }),
    bagAttributes: [nameOf(alias), localKeyIdOf(chain)],
  });
}

/** Returns the bags of a key's chain. The localKeyId of the first certificate refers to the key. */
function chainBagsOf({ alias, chain }: KeyEntry): readonly SafeBag[] {
  return chain.map((der, index) =>
    certificateBag(der, index === 0 ? [nameOf(alias), localKeyIdOf(chain)] : []),
  );
}

function trustedBagOf({ alias, certificate }: TrustedEntry): SafeBag {
  const trustedFor = new Attribute({
    type: OID_TRUSTED_KEY_USAGE,
    values: [new ObjectIdentifier({ value: OID_ANY_EXTENDED_KEY_USAGE })],
  });
  return certificateBag(certificate, [nameOf(alias), trustedFor]);
}

function certificateBag(der: Uint8Array, attributes: Attribute[]): SafeBag {
  const bag = new CertBag({ certId: OID_X509_CERTIFICATE });
  // Keeps the received bytes, which pkijs might encode differently.
  bag.certValue = new OctetString({ valueHex: bufferOf(der) });
  return new SafeBag({
    bagId: OID_CERT_BAG,
    bagValue: bag,
    ...(attributes.length === 0 ? {} : { bagAttributes: attributes }),
  });
}

function nameOf(alias: string): Attribute {
  return new Attribute({ type: OID_FRIENDLY_NAME, values: [new BmpString({ value: alias })] });
}

function localKeyIdOf([first = new Uint8Array()]: readonly Uint8Array[]): Attribute {
  const id = createHash('sha256').update(first).digest();
  return new Attribute({
    type: OID_LOCAL_KEY_ID,
    values: [new OctetString({ valueHex: bufferOf(id) })],
  });
}

function contentsOf(safeBags: readonly SafeBag[]): SafeContents {
  return new SafeContents({ safeBags: [...safeBags] });
}

/** Returns a copy with an ArrayBuffer of its own, as pkijs requires. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
