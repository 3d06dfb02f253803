// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';
import { readCertificates, type Certificate } from '../pki/x509/certificate.ts';
import { OID_COMMON_NAME } from '../pki/der/oids.ts';
import type { Account } from './accounts.ts';
import { unusable, type Answer, type NoAnswer } from './answer.ts';
import type { Received } from './exchange.ts';
import type { AcmeServer } from './server.ts';
import type { Caller } from './signed-message.ts';

/** A certificate with those above it, as a server sends it (RFC 8555 §7.4.2). Nothing of it is verified yet. */
export interface DownloadedChain {
  /** The leaf first. */
  readonly certificates: readonly [Certificate, ...Certificate[]];
  /** URLs of other chains of the same leaf. */
  readonly alternates: readonly string[];
}

/** Let's Encrypt has three; a server with more has a reason that we do not know. */
const MAX_ALTERNATES = 8;

/** Downloads a chain; `alternates` are not followed. */
export function downloadChain(
  server: AcmeServer,
  account: Account,
  url: string,
  signal?: AbortSignal,
): Promise<Answer<DownloadedChain>> {
  const read = (received: Received): DownloadedChain | NoAnswer => readChain(server, received);
  return server.post(account, { endpoint: 'certificate', url, read }, signal);
}

/**
 * Downloads the chain whose last certificate was issued by the CA with that common name; the server's default where it
 * has none, or where no name is given.
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
    // A preference is none that an Order ends for: an alternate that is not there is passed over, a server that is
    // ill is asked again.
    if (other.kind === 'problem' && other.status < 500 && other.status !== 429) continue;
    if (other.kind !== 'ok' || isTopped(other.value, preferredChain)) return other;
  }
  return offered;
}

function isTopped({ certificates }: DownloadedChain, commonName: string): boolean {
  const names = certificates.at(-1)?.issuer.attributes ?? [];
  return names.some(({ oid, value }) => oid === OID_COMMON_NAME && value === commonName);
}

function readChain(server: AcmeServer, { headers, body }: Received): DownloadedChain | NoAnswer {
  const { url } = server.resources;
  // One that leads elsewhere is not called, and spoils nothing.
  const links = linksOf(headers['link']).filter((link) => url.safeParse(link).success);
  const alternates = links.slice(0, MAX_ALTERNATES);
  try {
    const [leaf, ...above] = readCertificates(body.toString('latin1'));
    if (leaf === undefined) return unusable('the answer has no certificate');
    return { certificates: [leaf, ...above], alternates };
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return unusable(`the chain cannot be read: ${error.message}`);
  }
}

/** `<url>;rel="alternate"` (RFC 8288 §3), one in a header or several. */
function linksOf(header: string | string[] | undefined): readonly string[] {
  const all = typeof header === 'string' ? [header] : (header ?? []);
  return all
    .flatMap((text) => [...text.matchAll(/<([^<>]{1,2048})>\s?;([^<]{0,200})/g)])
    .filter(([, , parameters = '']) => /\brel="?alternate"?(?:$|[\s;,])/.test(parameters))
    .map(([, url = '']) => url);
}

/** Reasons of RFC 5280 §5.3.1 that a subscriber may give (CA/Browser Forum Baseline Requirements §7.2.2). */
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
  if (url === undefined) return unusable('the directory has no revokeCert');
  const payload = { certificate: Buffer.from(leaf).toString('base64url'), reason };
  return server.post(caller, { endpoint: 'revokeCert', url, read: () => null, payload });
}
