// SPDX-License-Identifier: Apache-2.0
/** Opens the keys of a key holder from files and PKCS#11 tokens. */
import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { messageOf, usageError } from '#base/errors.ts';
import { issuingCa, requireKeyOf } from '#ca/ceremony/issuing-ca.ts';
import { caKeyOf, type CaKey } from '#ca/custody/ca-key.ts';
import type { SigningCa } from '#ca/issuance/signing-ca.ts';
import type { HeldKeyEntry } from '#ca/key-holder/configuration.ts';
import { decryptPrivateKey } from '#pki/keys/encrypted-key.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import { passwordIn } from '#cli/secret-file.ts';
import { readPrivateFile } from './private-file.ts';
import type { Token, TokenKey, TokenPlace } from './token/token.ts';
import { caKeyIn, tokenKeyOf } from './token/token-key.ts';

/** An opened key with its CA. */
export interface OpenKey {
  readonly name: string;
  readonly key: CaKey;
  readonly ca: SigningCa;
  /** True if its certificate allows it to sign CRLs. */
  readonly signsLists: boolean;
  readonly signerNames: readonly string[];
  /** Returns why its token cannot be used now. Undefined for a key from a file. */
  readonly faultOf: () => string | undefined;
}

/** Opens a token with the keys that the holder uses in it. */
export type TokenOpener = (place: TokenPlace, keys: readonly TokenKey[]) => Token;

/** The opened keys, and the tokens that some of them are in. */
export interface OpenKeys {
  readonly keys: readonly OpenKey[];
  readonly tokens: readonly Token[];
}

/** A key of the configuration with its CA. */
interface CertifiedKey {
  readonly entry: HeldKeyEntry;
  readonly certificate: Certificate;
  readonly ca: SigningCa;
}

/** A key in a token. */
interface CertifiedTokenKey extends CertifiedKey {
  readonly place: TokenPlace;
  readonly tokenKey: TokenKey;
}

/**
 * Opens keys. Checks that each file has the key of its CA. Opens tokens in the background, since
 * they may be unavailable.
 *
 * @throws SignerError USAGE (`fail`), whose message has no part of a key, a passphrase or a PIN
 */
export async function openKeys(
  entries: readonly HeldKeyEntry[],
  openToken: TokenOpener,
): Promise<OpenKeys> {
  const opened = await Promise.all(entries.map((entry) => naming(entry, () => openEntry(entry))));
  const placed = opened.filter((each) => 'place' in each);
  const tokens = new Map<string, Token>();
  for (const [token, keys] of Map.groupBy(placed, tokenOf)) {
    const [first] = keys;
    if (first === undefined) continue;
    tokens.set(
      token,
      openToken(
        first.place,
        keys.map(({ tokenKey }) => tokenKey),
      ),
    );
  }
  const keys = opened.flatMap((each) => {
    if (!('place' in each)) return [each];
    const token = tokens.get(tokenOf(each));
    return token === undefined ? [] : [inToken(each, token)];
  });
  return { keys, tokens: [...tokens.values()] };
}

/** Returns the same text for keys of one token with one PIN. */
function tokenOf({ place: { module, token, pinFile } }: CertifiedTokenKey): string {
  return JSON.stringify([module, token, pinFile]);
}

async function naming<T>({ name }: HeldKeyEntry, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw usageError(`key ${name}: ${messageOf(error)}`);
  }
}

async function openEntry(entry: HeldKeyEntry): Promise<OpenKey | CertifiedTokenKey> {
  const { name, file, passphraseFile, pkcs11, certificate: path } = entry;
  const [certificate] = readCertificates(await readFile(path, 'latin1'));
  if (certificate === undefined) throw usageError(`${path} has no certificate`);
  const certified = { entry, certificate, ca: issuingCa(certificate, 'keyCertSign') };
  if (pkcs11 !== undefined) {
    const tokenKey = tokenKeyOf(name, pkcs11, certificate.publicKey);
    return { ...certified, place: pkcs11, tokenKey };
  }
  const key = caKeyOf(await openFile(file ?? '', passphraseFile));
  requireKeyOf(certificate, key);
  return openKey(certified, key, () => undefined);
}

function inToken(
  { place: _place, tokenKey, ...certified }: CertifiedTokenKey,
  token: Token,
): OpenKey {
  const key = caKeyIn(token, tokenKey, certified.certificate.publicKey);
  return openKey(certified, key, () => token.faultOf(tokenKey.name));
}

function openKey(
  { entry: { name, signerNames }, certificate, ca }: CertifiedKey,
  key: CaKey,
  faultOf: OpenKey['faultOf'],
): OpenKey {
  const signsLists = certificate.keyUsage?.has('cRLSign') !== false;
  return { name, key, ca, signsLists, signerNames, faultOf };
}

async function openFile(file: string, passphraseFile: string | undefined): Promise<KeyObject> {
  const pem = await readPrivateFile(file);
  if (passphraseFile === undefined) return readPrivateKey(pem);
  return decryptPrivateKey(pem, passwordIn(await readPrivateFile(passphraseFile)));
}
