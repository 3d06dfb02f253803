// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { memberUsername } from '#api/signer/upstream-hub.ts';
import { shellWord } from '#base/quote.ts';
import { longestIntermediate } from '#ca/issuance/intermediate.ts';
import type { Client } from '#kube/client/client.ts';
import { memberObjects, type Member } from '#install/fleet/member-objects.ts';
import { printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import {
  checkCluster,
  deletePath,
  fleetNamespaceOf,
  hubSignerOf,
  MEMBERS,
  pathOf,
  type FleetOptions,
} from './hub.ts';

/** Flags of `countersign fleet leave`. */
export type LeaveOptions = FleetOptions;

/**
 * Runs `countersign fleet leave`. The account goes first: without it, no token of the member is
 * valid, once the API server forgets it after ten seconds.
 *
 * @returns the exit code
 * @throws KubeError, or SignerError USAGE
 */
export async function runLeave(cluster: string, options: LeaveOptions): Promise<number> {
  checkCluster(cluster);
  const { client } = await connectUser(options, 'fleet');
  try {
    const { fleetNamespace: namespace, signer: signerName } = options;
    await fleetNamespaceOf(client, { namespace, signerName });
    if (!(await removeMember(client, { cluster, namespace }))) {
      printText(
        `cluster ${cluster} is no member: namespace ${namespace} of this cluster has no account of it, and nothing is removed. countersign fleet list --signer ${shellWord(signerName)} shows the members.\n`,
      );
      return 0;
    }
    const signer = await hubSignerOf(client, signerName);
    const now = Date.now() - client.clockOffset();
    printText(leftText(cluster, signer, options, now));
    return 0;
  } finally {
    await client.close();
  }
}

/**
 * Deletes all objects of a member, its account first.
 *
 * @returns false if it has none
 */
export async function removeMember(
  client: Client,
  { cluster, namespace }: Pick<Member, 'cluster' | 'namespace'>,
): Promise<boolean> {
  // Names alone count: the rest is part of rules.
  const rest = { signerName: '', bundle: '', tokenSeconds: 0 };
  const objects = memberObjects({ cluster, namespace, ...rest }).map(pathOf);
  let isMember = false;
  for (const path of [...objects, MEMBERS.object({ namespace, name: cluster })])
    isMember = (await deletePath(client, path)) || isMember;
  return isMember;
}

function leftText(
  cluster: string,
  signer: ClusterSigner | undefined,
  { fleetNamespace }: LeaveOptions,
  now: number,
): string {
  const until = signer === undefined ? undefined : lastEnd(signer, now);
  const end = until === undefined ? 'they end' : formatTime(until);
  const lines = [
    `cluster ${cluster} left: its account and its permissions are removed, and its tokens end within seconds.`,
    `CAs that the hub signed for it, and their leaves, stay valid until ${end} at the latest.`,
  ];
  if (signer?.spec.profile.crl !== undefined) {
    const user = shellWord(memberUsername(fleetNamespace, cluster));
    lines.push(
      `To reject them earlier where verifiers read CRLs: countersign revoke --user ${user}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Returns the time until which a CA of a member can be valid, in milliseconds: the longest life
 * from now, and never beyond the CA that signs. The profile may have allowed more when it signed.
 */
function lastEnd({ spec, status }: ClusterSigner, now: number): number {
  const longest = parseDuration(spec.profile.maxDuration);
  const ends = (status?.authorities ?? []).map(({ notBefore, notAfter, longestLeaf }) => {
    const seconds = Math.max(longest, parseDuration(longestLeaf));
    const issuer = { notBefore: parseTime(notBefore), notAfter: parseTime(notAfter) };
    return Math.min(issuer.notAfter, now + longestIntermediate(seconds, issuer) * 1000);
  });
  return ends.length === 0 ? now + longest * 1000 : Math.max(...ends);
}
