// SPDX-License-Identifier: Apache-2.0
/** What the user agrees to before the demo uses a cluster of theirs. */
import { createInterface } from 'node:readline/promises';
import { OwnCluster } from './cast/own-cluster.ts';

export interface AgreeOptions {
  /** Of the components, which the nodes can pull. */
  readonly image?: string | undefined;
  /** The answer to the question. */
  readonly yes: boolean;
}

/** The user did not agree, or gave too little. Nothing was created. */
export class NotAgreed extends Error {}

const NO_IMAGE = `make demo KUBECONFIG=… needs IMAGE=…, an image of this checkout that the nodes can pull.
Build it, and push it, or load it into the nodes:

  make image ARGS='--archive image.tar'                        # or: docker build -t registry.example/countersign:demo .
  docker push registry.example/countersign:demo
  kind load docker-image registry.example/countersign:demo     # kind
  minikube image load registry.example/countersign:demo        # minikube

Then: make demo KUBECONFIG=… IMAGE=registry.example/countersign:demo`;

/**
 * Connects to the user's cluster, says what the demo makes there, and asks.
 *
 * @throws NotAgreed without an image, without a terminal to ask on, or after another answer than
 *   yes
 * @throws Error if the cluster cannot tell the story, or has objects of the story's names
 */
export async function agree(kubeconfig: string, { image, yes }: AgreeOptions): Promise<OwnCluster> {
  if (image === undefined || image === '') throw new NotAgreed(NO_IMAGE);
  const canAsk = process.stdin.isTTY && process.stdout.isTTY;
  if (!yes && !canAsk)
    throw new NotAgreed(
      'There is no terminal to ask on. ARGS=--yes lets the demo use the cluster.',
    );
  const own = await OwnCluster.connect(kubeconfig, image);
  process.stdout.write(`The demo will use ${own.cluster.server} (${kubeconfig}). It creates
  the namespaces countersign-system, countersign-keys and team-a,
  the definitions, roles and policies of Countersign, and
  certificates for people and pods. It deletes all of it at its end, also after Ctrl-C.
`);
  try {
    if (!yes && !(await isAgreed())) throw new NotAgreed('Nothing was created.');
    // The user may take hours to answer, and others may install meanwhile.
    await own.requireUnused();
    return own;
  } catch (error) {
    await own.leave();
    throw error;
  }
}

async function isAgreed(): Promise<boolean> {
  const terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
    // As a terminal it would take Ctrl-C for a key.
    terminal: false,
  });
  try {
    return (await terminal.question('Type yes to go on: ')).trim() === 'yes';
  } finally {
    terminal.close();
  }
}
