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
import { connectUser, type UserOptions } from '../../../app/user-client.ts';
import { findPods, type FoundPods } from '../../../operations/pods/find-pods.ts';
import { readSignerState } from '../../../operations/read-signer-state.ts';
import { structuredText, type Output } from '../../../operations/report.ts';
import type { SignerState } from '../../../operations/signer-state.ts';

/** Flags that all four orders have. */
export interface ChangeOptions extends UserOptions {
  readonly output: Output;
  readonly propagation: number;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** One run of a verb: whose rights it has, and how it speaks. */
export interface Session {
  readonly client: Client;
  readonly readState: () => Promise<SignerState>;
  /** On stderr: what is going on. */
  readonly progress: (line: string) => void;
  /** On stdout, where people read. */
  readonly print: (text: string) => void;
  /** On stdout, where programs read: once, at the end. */
  readonly printStructured: (value: unknown) => void;
  /** Whether CertificateRequests are served here: every user may ask that. */
  readonly hasCertManager: () => Promise<boolean>;
  readonly pods: (
    state: SignerState,
    authority: AuthorityStatus,
    namespaces?: readonly string[],
  ) => Promise<FoundPods>;
}

/** Runs `work` as the user of the kubeconfig. @returns what it returns: the exit code */
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
      progress: (line) => process.stderr.write(`${line}\n`),
      print: (text) => {
        if (output === 'text') process.stdout.write(text);
      },
      printStructured: (value) => {
        if (output !== 'text') process.stdout.write(structuredText(value, output));
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

/** What a user may not see is unknown; everything else that goes wrong is an error. */
export async function unlessForbidden<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  });
}
