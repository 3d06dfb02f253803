// SPDX-License-Identifier: Apache-2.0
import { WORKLOAD_RESOURCES } from '#api/workload/workload.ts';
import { LOG_KEY_SECRET } from '#ledger/ledger/objects.ts';
import { usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign ledger rotate-key`. */
export interface RotateKeyOptions extends UserOptions {
  readonly namespace: string;
  readonly complete?: boolean;
  readonly compromised?: boolean;
  readonly yes?: boolean;
  readonly output: Output;
}

const DEPLOYMENTS = resource(WORKLOAD_RESOURCES.Deployment);
const DEPLOYMENT = 'countersign-ledger';
/** Annotation that kubectl rollout restart writes. */
const RESTARTED = 'kubectl.kubernetes.io/restartedAt';

/**
 * A change of the Secret. The API server moves the key, so the user never sees one and needs no
 * permission to read it.
 */
interface Change {
  readonly contentType: string;
  readonly body: unknown;
  readonly plan: string;
  readonly next: string;
}

const JSON_PATCH = 'application/json-patch+json';

const BEGIN: Change = {
  contentType: JSON_PATCH,
  body: [
    // An absent member is null. A pending overlap must be completed first.
    { op: 'test', path: '/data/previous.key', value: null },
    { op: 'move', from: '/data/log.key', path: '/data/previous.key' },
  ],
  plan: 'the key becomes the former one, and the ledger makes the next when it restarts; both sign',
  next: 'with the next record a new log begins: give verifiers and witnesses its key (countersign ledger keys), then countersign ledger rotate-key --complete --yes',
};

const COMPLETE: Change = {
  contentType: JSON_PATCH,
  body: [{ op: 'remove', path: '/data/previous.key' }],
  plan: 'the former key is removed for good: verifiers with only that key reject newer checkpoints',
  next: 'checkpoints have one signature of the ledger again',
};

const COMPROMISED: Change = {
  contentType: 'application/merge-patch+json',
  body: { data: { 'log.key': null, 'previous.key': null } },
  plan: 'all keys are removed for good, and the ledger makes another when it restarts: nothing vouches for it',
  next: 'with the next record a new log begins: hand its key (countersign ledger keys) over by a channel that the thief cannot use',
};

/**
 * Runs `countersign ledger rotate-key`: changes the Secret of the log's key, and restarts the
 * ledger. Without `--yes` it sends `dryRun`, which changes nothing.
 *
 * @throws KubeError, or SignerError USAGE, also if the Secret lacks the keys for it
 */
export async function runRotateKey(options: RotateKeyOptions): Promise<void> {
  if (options.complete === true && options.compromised === true) {
    throw usageError('write --complete or --compromised, not both');
  }
  const change =
    options.compromised === true ? COMPROMISED : options.complete === true ? COMPLETE : BEGIN;
  const isDry = options.yes !== true;
  const { client } = await connectUser(options, 'ledger');
  try {
    await changed(client, options.namespace, change, isDry);
    if (options.output !== 'text') {
      const { plan, next } = change;
      printDocument(structuredText({ changed: !isDry, plan, next }, options.output));
    } else printText(`${change.plan}\n`);
    printProgress(isDry ? 'nothing is changed; repeat it with --yes' : change.next);
  } finally {
    await client.close();
  }
}

async function changed(
  client: Client,
  namespace: string,
  { contentType, body }: Change,
  isDry: boolean,
): Promise<void> {
  const query = isDry ? { dryRun: 'All' } : {};
  const path = SECRETS.object({ namespace, name: LOG_KEY_SECRET });
  try {
    await client.request({ method: 'PATCH', path, contentType, body, query });
  } catch (error) {
    // A failed test or removal (RFC 6902). The API server answers 422 or 400.
    if (!(error instanceof KubeError) || (error.status !== 422 && error.status !== 400))
      throw error;
    throw usageError(
      'the Secret does not have the keys for that: with a former key, complete the rotation first (--complete); without one, there is nothing to complete',
    );
  }
  const annotations = { [RESTARTED]: new Date().toISOString() };
  await client.request({
    method: 'PATCH',
    path: DEPLOYMENTS.object({ namespace, name: DEPLOYMENT }),
    contentType: 'application/merge-patch+json',
    body: { spec: { template: { metadata: { annotations } } } },
    query,
  });
}
