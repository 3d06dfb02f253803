// SPDX-License-Identifier: Apache-2.0
import { webcrypto } from 'node:crypto';
import { OctetString, BaseStringBlock } from 'asn1js';
import {
  AuthenticatedSafe,
  CertBag,
  CryptoEngine,
  EncryptedContentInfo,
  EncryptedData,
  PBES2Params,
  PBKDF2Params,
  PFX,
  PKCS8ShroudedKeyBag,
  SafeContents,
  type ContentInfo,
  type SafeBag,
} from 'pkijs';
import { type SignerError, messageOf, usageError } from '#base/errors.ts';
import {
  OID_CERT_BAG,
  OID_DATA,
  OID_ENCRYPTED_DATA,
  OID_FRIENDLY_NAME,
  OID_KEY_BAG,
  OID_PBES2,
  OID_SHROUDED_KEY_BAG,
  OID_TRUSTED_KEY_USAGE,
} from './pkcs12-oids.ts';

/** The contents of a PKCS#12 file. */
export interface DecodedKeyStore {
  /** DER PrivateKeyInfo (RFC 5958). */
  readonly keys: readonly { readonly alias?: string; readonly pkcs8: Uint8Array }[];
  readonly certificates: readonly {
    readonly alias?: string;
    /** DER. */
    readonly der: Uint8Array;
    /** True if Java treats it as an anchor. */
    readonly isTrusted: boolean;
  }[];
}

/** Java's limit. The author of the file determines how long it takes to open it. */
const MAX_ITERATIONS = 5_000_000;

/** The limit of a file. A megabyte holds hundreds of certificates. */
const MAX_STORE_BYTES = 4 * 1024 * 1024;

interface Pkcs12Decryption {
  readonly password: ArrayBuffer;
  readonly engine: CryptoEngine;
}

/**
 * Opens a PKCS#12 file (RFC 7292) that is protected by a password. Checks its MAC first. Reads
 * current files, with PBES2. Rejects those with RC2 or 3DES, with a remedy.
 *
 * @throws SignerError USAGE (`fail`) for a damaged file, for another password, and for old
 *   algorithms
 */
export async function decodePkcs12(der: Uint8Array, password: string): Promise<DecodedKeyStore> {
  if (der.length > MAX_STORE_BYTES) throw unreadable(`it has more than ${MAX_STORE_BYTES} bytes`);
  const engine = new CryptoEngine({ name: 'node', crypto: webcrypto });
  const opening = { engine, password: bufferOf(Buffer.from(password, 'utf8')) };
  const file = parsed(() => PFX.fromBER(bufferOf(der)));
  await checkMac(file, opening);
  const safe = parsed(() => AuthenticatedSafe.fromBER(octetsOf(file.authSafe)));
  const bags: SafeBag[] = [];
  for (const each of safe.safeContents) bags.push(...(await bagsOf(each, opening)));
  const keys = await Promise.all(
    bags
      .filter(({ bagId }) => bagId === OID_SHROUDED_KEY_BAG || bagId === OID_KEY_BAG)
      .map(async (bag) => ({ ...aliasOf(bag), pkcs8: await keyOf(bag, opening) })),
  );
  return { keys, certificates: bags.flatMap(certificateOf) };
}

async function checkMac(file: PFX, { password, engine }: Pkcs12Decryption): Promise<void> {
  const { macData } = file;
  if (macData === undefined) return;
  const { iterations = 1 } = macData;
  if (iterations > MAX_ITERATIONS) throw unreadable(`its MAC has ${iterations} iterations`);
  try {
    await file.parseInternalValues({ checkIntegrity: true, password }, engine);
  } catch (error) {
    if (/integrity/i.test(messageOf(error))) {
      throw unreadable('the password is another one, or the file was changed');
    }
    throw unreadable(messageOf(error));
  }
}

async function bagsOf(
  content: ContentInfo,
  opening: Pkcs12Decryption,
): Promise<readonly SafeBag[]> {
  if (content.contentType === OID_DATA) {
    return parsed(() => SafeContents.fromBER(octetsOf(content))).safeBags;
  }
  if (content.contentType !== OID_ENCRYPTED_DATA) {
    throw unreadable(`it has content of the type ${content.contentType}`);
  }
  const { encryptedContentInfo } = parsed(() => new EncryptedData({ schema: content.content }));
  const plain = await decrypted(encryptedContentInfo, opening);
  return parsed(() => SafeContents.fromBER(plain)).safeBags;
}

async function keyOf({ bagId, bagValue }: SafeBag, opening: Pkcs12Decryption): Promise<Uint8Array> {
  if (!(bagValue instanceof PKCS8ShroudedKeyBag)) {
    if (bagId !== OID_KEY_BAG) throw unreadable('a bag with a key has something else');
    return new Uint8Array(bagValue.toSchema().toBER(false));
  }
  const info = new EncryptedContentInfo({
    contentType: OID_DATA,
    contentEncryptionAlgorithm: bagValue.encryptionAlgorithm,
    encryptedContent: bagValue.encryptedData,
  });
  return new Uint8Array(await decrypted(info, opening));
}

async function decrypted(
  info: EncryptedContentInfo,
  { password, engine }: Pkcs12Decryption,
): Promise<ArrayBuffer> {
  const { algorithmId } = info.contentEncryptionAlgorithm;
  const algorithmParams: unknown = info.contentEncryptionAlgorithm.algorithmParams;
  if (algorithmId !== OID_PBES2) {
    throw unreadable(
      'it is encrypted as before 2021, with RC2 or 3DES; convert it: openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW',
    );
  }
  const { keyDerivationFunc } = parsed(() => new PBES2Params({ schema: algorithmParams }));
  const { iterationCount } = parsed(
    () => new PBKDF2Params({ schema: keyDerivationFunc.algorithmParams }),
  );
  if (iterationCount > MAX_ITERATIONS) throw unreadable(`it has ${iterationCount} iterations`);
  try {
    return await engine.decryptEncryptedContentInfo({ password, encryptedContentInfo: info });
  } catch (error) {
    throw unreadable(`it does not decrypt by this password (${messageOf(error)})`);
  }
}

function certificateOf(bag: SafeBag): DecodedKeyStore['certificates'] {
  const { bagId, bagValue, bagAttributes = [] } = bag;
  if (bagId !== OID_CERT_BAG || !(bagValue instanceof CertBag)) return [];
  const { certValue } = bagValue;
  if (!(certValue instanceof OctetString)) return [];
  const isTrusted = bagAttributes.some(({ type }) => type === OID_TRUSTED_KEY_USAGE);
  return [{ ...aliasOf(bag), der: new Uint8Array(certValue.getValue()), isTrusted }];
}

function aliasOf({ bagAttributes = [] }: SafeBag): { readonly alias?: string } {
  const values: readonly unknown[] =
    bagAttributes.find(({ type }) => type === OID_FRIENDLY_NAME)?.values ?? [];
  const [name] = values;
  return name instanceof BaseStringBlock ? { alias: name.getValue() } : {};
}

function octetsOf({ content }: ContentInfo): ArrayBuffer {
  if (content instanceof OctetString) return content.getValue();
  throw unreadable('a part of it is not an OCTET STRING');
}

function parsed<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw unreadable(messageOf(error));
  }
}

function unreadable(why: string): SignerError {
  return usageError(`cannot open the PKCS#12 file: ${why}`);
}

/** Returns a copy with an ArrayBuffer of its own, as pkijs requires. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
