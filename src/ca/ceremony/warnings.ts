// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import type { CeremonyFile, SigningVerb } from './ceremony-file.ts';

/** Programs that refuse or ignore URI constraints. docs/reference/verifiers.md has the cases. */
const URI_CONSTRAINTS =
  'URI constraints: rustls (rustls-webpki 0.103.12 and later) refuses every chain that has one, so Linkerd and ztunnel may; GnuTLS ignores them, so it accepts foreign names';

const DNS_CONSTRAINTS =
  'DNS constraints: of leaves without a DNS name, GnuTLS refuses those with a common name, and OpenSSL and Node those whose common name looks like another host name, such as web.team-a.svc, jane.doe or 10.0.0.1';

/** The share of its life after which a CRL should be replaced: half, as for CRLs in a cluster. */
const HALF = 2;

/**
 * Returns the warnings about a section: what verifiers make of it, and when it ends.
 *
 * @throws SignerError USAGE (`fail`) for URI constraints without the consent of a flag
 */
export function warningsOf(
  file: CeremonyFile,
  verb: SigningVerb,
  allowUriConstraints: boolean,
): readonly string[] {
  if (verb === 'crl') return listWarnings(file);
  const { dns, uris } = file[verb]?.nameConstraints ?? {};
  if (uris !== undefined && !allowUriConstraints) {
    throw usageError(
      `${verb}.nameConstraints.uris: ${URI_CONSTRAINTS}; --allow-uri-constraints takes them nevertheless`,
    );
  }
  return [
    ...(dns === undefined ? [] : [DNS_CONSTRAINTS]),
    ...(uris === undefined ? [] : [URI_CONSTRAINTS]),
  ];
}

function listWarnings({ crl }: CeremonyFile): readonly string[] {
  if (crl === undefined) return [];
  const [from, to] = [Date.parse(crl.thisUpdate), Date.parse(crl.nextUpdate)];
  const by = new Date(from + (to - from) / HALF).toISOString().slice(0, '2027-01-01'.length);
  return [
    `the next CRL: hold its ceremony by ${by}; from ${crl.nextUpdate} verifiers that check CRLs refuse everything below this CA`,
  ];
}
