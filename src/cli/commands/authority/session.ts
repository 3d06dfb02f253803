// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import type { Client } from '#kube/client/client.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { podsOfCa } from '#operations/holder-reads.ts';
import type { PodScan } from '#operations/pods/find-pods.ts';
import { readSignerState } from '#operations/read-signer-state.ts';
import type { OperationReport, Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import type { SignerState } from '#operations/signer-state.ts';

/** Common flags of the four verbs with a change. */
export interface ChangeOptions extends UserOptions {
  readonly output: Output | 'name';
  readonly propagation: number;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** One run of a verb: the user's client, and the output. */
export interface Session {
  readonly client: Client;
  readonly readState: () => Promise<SignerState>;
  /** Writes a line of progress to stderr. */
  readonly progress: (line: string) => void;
  /** Writes to stdout, with `-o text` only. */
  readonly print: (text: string) => void;
  /** Writes the result to stdout once, at the end, with `-o json`, `-o yaml` and `-o name`. */
  readonly printStructured: (value: OperationReport) => void;
  readonly pods: (
    state: SignerState,
    authority: AuthorityStatus,
    namespaces?: readonly string[],
  ) => Promise<PodScan>;
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
      pods: (state, authority, namespaces) => podsOfCa(client, state, authority, namespaces),
    });
  } finally {
    await client.close();
  }
}
