// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import { readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import { commonNamesOf } from '#pki/names/distinguished-name.ts';
import type { Account } from './accounts.ts';
import type { Answer } from './answer.ts';
import { unusable, type NoAnswer } from '#base/egress/no-answer.ts';
import type { HttpAnswer } from '#base/egress/exchange.ts';
import type { AcmeServer } from './server.ts';
import type { Caller } from './signed-message.ts';
import * as messages from './messages.ts';

/**
 * A certificate and its issuers, as a server sends them (RFC 8555 §7.4.2). Nothing is verified yet.
 */
export interface DownloadedChain {
  /** Certificates of the chain, leaf first. */
  readonly certificates: readonly [Certificate, ...Certificate[]];
  /** URLs of other chains of this leaf. */
  readonly alternates: readonly string[];
}

/** Limit on alternate chains. Let's Encrypt offers three. */
const MAX_ALTERNATES = 8;

/** Downloads a chain, without its alternates. */
export function downloadChain(
  server: AcmeServer,
  account: Account,
  url: string,
  signal?: AbortSignal,
): Promise<Answer<DownloadedChain>> {
  const read = (received: HttpAnswer): DownloadedChain | NoAnswer => readChain(server, received);
  return server.post(account, { endpoint: 'certificate', url, read }, signal);
}

/**
 * Downloads the chain whose last certificate was issued by the CA with the given common name.
 * Without a name or a match, downloads the server's default chain.
 */
export async function downloadPreferredChain(
  server: AcmeServer,
  account: Account,
  url: string,
  choice: { readonly preferredChain?: string | undefined; readonly signal?: AbortSignal },
): Promise<Answer<DownloadedChain>> {
  const { preferredChain, signal } = choice;
  const offered = await downloadChain(server, account, url, signal);
  if (offered.kind !== 'ok' || preferredChain === undefined) return offered;
  if (isTopped(offered.value, preferredChain)) return offered;
  for (const alternate of offered.value.alternates) {
    const other = await downloadChain(server, account, alternate, signal);
    // A missing preferred chain must not end an Order. Skip an alternate that the server refuses,
    // and let the caller retry when the server fails.
    if (other.kind === 'problem' && other.status < 500 && other.status !== 429) continue;
    if (other.kind !== 'ok' || isTopped(other.value, preferredChain)) return other;
  }
  return offered;
}

function isTopped({ certificates }: DownloadedChain, commonName: string): boolean {
  const last = certificates.at(-1);
  return last !== undefined && commonNamesOf(last.issuer).includes(commonName);
}

function readChain(server: AcmeServer, { headers, body }: HttpAnswer): DownloadedChain | NoAnswer {
  const { url } = server.resources;
  // Ignore links to another origin. The rest of the answer is usable.
  const links = linksOf(headers['link']).filter((link) => url.safeParse(link).success);
  const alternates = links.slice(0, MAX_ALTERNATES);
  try {
    const [leaf, ...above] = readCertificates(body.toString('latin1'));
    if (leaf === undefined) return unusable(messages.NO_CERTIFICATE);
    return { certificates: [leaf, ...above], alternates };
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return unusable(messages.unreadableChain(error.message));
  }
}

/** Returns the URLs of `<url>;rel="alternate"` links (RFC 8288 §3), from one header or several. */
function linksOf(header: string | string[] | undefined): readonly string[] {
  const all = typeof header === 'string' ? [header] : (header ?? []);
  return all
    .flatMap((text) => [...text.matchAll(/<([^<>]{1,2048})>\s?;([^<]{0,200})/g)])
    .filter(([, , parameters = '']) => /\brel="?alternate"?(?:$|[\s;,])/.test(parameters))
    .map(([, url = '']) => url);
}

/**
 * Reasons of RFC 5280 §5.3.1 that a subscriber may give (CA/Browser Forum Baseline Requirements
 * §7.2.2).
 */
export type RevocationReason = 0 | 1 | 3 | 4 | 5;

/**
 * Revokes a certificate (RFC 8555 §7.6).
 *
 * @param caller - the account, or the certificate's own key without an account
 * @param leaf - DER
 */
export async function revokeCertificate(
  server: AcmeServer,
  caller: Caller,
  leaf: Uint8Array,
  reason: RevocationReason,
): Promise<Answer<null>> {
  const directory = await server.directory();
  if (directory.kind !== 'ok') return directory;
  const url = directory.value.revokeCert;
  if (url === undefined) return unusable(messages.NO_REVOKE_CERT);
  const payload = { certificate: Buffer.from(leaf).toString('base64url'), reason };
  return server.post(caller, { endpoint: 'revokeCert', url, read: () => null, payload });
}
