// SPDX-License-Identifier: Apache-2.0
/** Objects of an installation that `countersign uninstall`, Helm and the operators keep. */
import { CHECKPOINTS, FINDINGS, LOG_KEY_SECRET, UPLOADS } from '#ledger/ledger/objects.ts';
import { CURSORS } from '#notify/notifier/objects.ts';

/**
 * Kinds that hold keys, records or trust, or that contain such objects. Deleting a definition
 * deletes all its objects, and deleting a namespace its Secrets and claims. A new ClusterSigner of
 * the same name has another UID, and `authority` never replaces the CA of another.
 */
const LASTING_KINDS: readonly string[] = [
  'CustomResourceDefinition',
  'Namespace',
  'PersistentVolumeClaim',
  'ClusterSigner',
];

/**
 * Objects that the manifests create empty and components fill with data that no component can
 * create again.
 */
const LASTING_NAMES: Readonly<Record<string, readonly string[]>> = {
  Secret: [LOG_KEY_SECRET],
  ConfigMap: [CHECKPOINTS, FINDINGS, UPLOADS, CURSORS],
};

/** Reports whether an object of an installation stays after uninstallation. */
export function isLasting(kind: unknown, name: string): boolean {
  if (typeof kind !== 'string') return false;
  return LASTING_KINDS.includes(kind) || LASTING_NAMES[kind]?.includes(name) === true;
}
