// SPDX-License-Identifier: Apache-2.0
/**
 * The API server ignores revocations. kube-apiserver supports neither CRLs nor OCSP
 * (kubernetes/kubernetes#18982), so it accepts a client certificate until it expires.
 */
import { formatTime } from '#api/object/time.ts';
import { quoteList } from '#base/quote.ts';
import {
  OID_ANY_EXTENDED_KEY_USAGE,
  OID_CLIENT_AUTH,
  OID_COMMON_NAME,
  OID_ORGANIZATION,
} from '#pki/der/oids.ts';
import type { Certificate } from '#pki/x509/certificate.ts';

/** Page with the commands. */
const PAGE = 'docs/how-to/revoke.md#end-the-access-to-the-api-server';
/** The group whose rights no binding grants (apiserver, authorizerfactory). */
const SUPERUSERS = 'system:masters';

/** The identity that the API server reads from a client certificate. */
export interface ApiServerIdentity {
  readonly user: string;
  readonly groups: readonly string[];
}

/**
 * Returns the user and the groups that the API server takes from a client certificate: the common
 * name and the organizations (apiserver, CommonNameUserConversion). Undefined for a certificate
 * that it never accepts: without a common name, or not for client authentication.
 */
export function apiServerIdentity(leaf: Certificate): ApiServerIdentity | undefined {
  const { attributes } = leaf.subject;
  const user = attributes.find(({ oid }) => oid === OID_COMMON_NAME)?.value ?? '';
  if (user === '' || !isForClients(leaf)) return undefined;
  const groups = attributes.filter(({ oid }) => oid === OID_ORGANIZATION);
  return { user, groups: groups.map(({ value }) => value) };
}

/** Go's x509.Certificate.Verify takes a certificate without extended key usages for every use. */
function isForClients({ extKeyUsage }: Certificate): boolean {
  return (
    extKeyUsage === undefined ||
    extKeyUsage.some((oid) => oid === OID_CLIENT_AUTH || oid === OID_ANY_EXTENDED_KEY_USAGE)
  );
}

/**
 * Returns a note about revoked certificates of one signer that the API server still accepts, and
 * how to end that access. Undefined if none of them is a client certificate with a username.
 */
export function accessNote(signerName: string, leaves: readonly Certificate[]): string | undefined {
  const clients = leaves.flatMap((leaf) => {
    const identity = apiServerIdentity(leaf);
    return identity === undefined ? [] : [{ ...identity, until: leaf.notAfter }];
  });
  if (clients.length === 0) return undefined;
  const users = [...new Set(clients.map(({ user }) => user))];
  const groups = [...new Set(clients.flatMap((each) => each.groups))];
  const until = formatTime(Math.max(...clients.map((each) => each.until)));
  const whose = `user ${quoteList(users)}${groups.length === 0 ? '' : ` and group ${quoteList(groups)}`}`;
  const masters = groups.includes(SUPERUSERS)
    ? `. Only a new CA ends the rights of ${SUPERUSERS}: no binding grants the rights of this group`
    : '';
  const others =
    groups.length === 0
      ? ''
      : '. That takes the rights of every member of the group: bind the other members by name first';
  return `kube-apiserver reads no CRL: if its --client-ca-file has the CA of ${signerName}, it accepts these certificates until ${until}. To end the access now, remove ${whose} from all RoleBindings and ClusterRoleBindings${others}. Or replace the CA in --client-ca-file, which ends the access of all its certificates${masters}. See ${PAGE}`;
}
