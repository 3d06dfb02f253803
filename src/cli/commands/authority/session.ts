// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '../../../api/signer/cluster-signer.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import type { Client } from '../../../kube/client/client.ts';
import { certificatesResources } from '../../../app/certificates-resources.ts';
import {
  CERT_MANAGER_GROUP,
  CERT_MANAGER_VERSION,
} from '../../../api/request/certificate-request.ts';
import { servedVersions } from '../../../kube/client/discovery.ts';
import { printDocument, printProgress, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { findPods, type FoundPods } from '../../../operations/pods/find-pods.ts';
import { readSignerState } from '../../../operations/read-signer-state.ts';
import { structuredText, type OperationReport, type Output } from '../../../operations/report.ts';
import type { SignerState } from '../../../operations/signer-state.ts';

/** Flags that the four verbs with a change have in common. */
export interface ChangeOptions extends UserOptions {
  readonly output: Output | 'name';
  readonly propagation: number;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** One run of a verb: the user's client, and where output goes. */
export interface Session {
  readonly client: Client;
  readonly readState: () => Promise<SignerState>;
  /** Writes a line of progress to stderr. */
  readonly progress: (line: string) => void;
  /** Writes to stdout with `-o text`. */
  readonly print: (text: string) => void;
  /** Writes the result to stdout with `-o json`, `-o yaml` and `-o name`: once, at the end. */
  readonly printStructured: (value: OperationReport) => void;
  /** Whether the API server serves CertificateRequests of cert-manager. */
  readonly hasCertManager: () => Promise<boolean>;
  readonly pods: (
    state: SignerState,
    authority: AuthorityStatus,
    namespaces?: readonly string[],
  ) => Promise<FoundPods>;
}

/**
 * Connects as the user of the kubeconfig, runs `work`, and closes the connection.
 *
 * @param name - of the ClusterSigner
 * @returns the exit code that `work` returns
 */
export async function inSession(
  name: string,
  options: ChangeOptions,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const { output, propagation } = options;
  const { client } = await connectUser(options, 'authority');
  try {
    return await work({
      client,
      readState: () =>
        readSignerState({ client, clock: Date.now, propagationSeconds: propagation }, name),
      progress: printProgress,
      print: (text) => {
        if (output === 'text') printText(text);
      },
      printStructured: (value) => {
        if (output === 'name') printText(`clustersigner.countersign.dev/${value.clusterSigner}\n`);
        else if (output !== 'text') printDocument(structuredText(value, output));
      },
      hasCertManager: async () => {
        const kind = { group: CERT_MANAGER_GROUP, plural: 'certificaterequests' };
        return (await servedVersions(client, kind, [CERT_MANAGER_VERSION])).length > 0;
      },
      pods: async ({ signer }, authority, namespaces = []) => {
        const [requests] = await certificatesResources(client, 'podcertificaterequests');
        return findPods({ client, signer, authority, namespaces, requests });
      },
    });
  } finally {
    await client.close();
  }
}

/** Undefined when the API server answers 403: what a user may not read is unknown. Other errors are thrown. */
export async function unlessForbidden<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  });
}
