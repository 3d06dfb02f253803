// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { FleetMember } from '#api/signer/fleet-member.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound, KubeError } from '#kube/client/kube-error.ts';
import { certificatesResources } from '#component/certificates-resources.ts';
import { listPages } from '#kube/watch/list-pages.ts';
import { memberRows, membersTable, type MemberRow } from '#operations/fleet/member-rows.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import { printDocument, printText, terminalWidth } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import { hubOf, MEMBERS, type FleetOptions } from './hub.ts';

/** Flags of `countersign fleet list`. */
export interface ListOptions extends FleetOptions {
  readonly output: Output | 'name';
}

/**
 * Runs `countersign fleet list`. It calls the hub only.
 *
 * @returns the exit code
 * @throws KubeError, or SignerError USAGE
 */
export async function runList(options: ListOptions): Promise<number> {
  const { client } = await connectUser(options, 'fleet');
  try {
    const anchors = await hubAnchors(client, options.signer);
    const members = await membersOf(client, options);
    const now = Date.now() - client.clockOffset();
    const rows = memberRows(members, anchors, now);
    if (options.output === 'name') printText(namesText(rows));
    else if (options.output === 'text') printText(membersTable(rows, now, terminalWidth()));
    else printDocument(structuredText(rows, options.output));
    return 0;
  } finally {
    await client.close();
  }
}

/** Returns the names in the form that kubectl takes. */
function namesText(rows: readonly MemberRow[]): string {
  return rows.map(({ cluster }) => `fleetmember/${cluster}\n`).join('');
}

async function membersOf(
  client: Client,
  { fleetNamespace: namespace, signer }: FleetOptions,
): Promise<readonly FleetMember[]> {
  const found: FleetMember[] = [];
  try {
    const path = MEMBERS.collection(namespace);
    await listPages<FleetMember>({ client, path }, (member) => {
      if (member.spec.signerName === signer) found.push(member);
    });
  } catch (error) {
    // No cluster has joined yet: the first `fleet join` applies the kind.
    if (!(error instanceof KubeError) || error.code !== 'KUBE_NOT_FOUND') throw error;
  }
  return found;
}

/** Returns the fingerprints of the anchors that the hub publishes. Its members need all of them. */
async function hubAnchors(client: Client, signerName: string): Promise<readonly string[]> {
  const { bundle } = await hubOf(client, signerName);
  const [bundles] = await certificatesResources(client, 'clustertrustbundles');
  const path = bundles.object({ name: bundleName(signerName, bundle) });
  const found = await client
    .request<ClusterTrustBundle>({ method: 'GET', path })
    .catch(ignoreNotFound);
  return [...anchorFingerprints(found?.spec.trustBundle ?? '')];
}
