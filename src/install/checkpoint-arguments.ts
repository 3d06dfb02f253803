// SPDX-License-Identifier: Apache-2.0
/** Arguments of the ledger for its checkpoints outside the cluster. */

/**
 * Secret with the credentials of those places. The user creates it, and the arguments name its
 * files.
 */
export const CHECKPOINT_SECRET = 'countersign-ledger-checkpoints';
export const CHECKPOINT_DIRECTORY = '/run/countersign/checkpoints';

/** Places of checkpoints outside the cluster, as in the values. */
export interface CheckpointPlaces {
  readonly webhook: string;
  readonly signWebhook: boolean;
  readonly objectStore: boolean;
  readonly witnesses: readonly string[];
  readonly ownCa: boolean;
  readonly interval: string;
}

/**
 * Returns the arguments for these places. The chart's helper `countersign.ledgerArgs` returns the
 * same.
 */
export function checkpointArguments(places: CheckpointPlaces): readonly string[] {
  const { webhook, signWebhook, objectStore, witnesses, ownCa, interval } = places;
  const file = (flag: string, key: string): string => `${flag}=${CHECKPOINT_DIRECTORY}/${key}`;
  const args = [
    ...(webhook === '' ? [] : [`--checkpoint-webhook=${webhook}`]),
    ...(signWebhook ? [file('--checkpoint-webhook-secret', 'webhook-secret')] : []),
    ...(objectStore ? [file('--checkpoint-object', 'object-url')] : []),
    ...witnesses.map((each) => `--witness=${each}`),
    ...(ownCa ? [file('--checkpoint-ca', 'ca.crt')] : []),
  ];
  return args.length === 0 ? [] : [...args, `--checkpoint-interval=${interval}`];
}
