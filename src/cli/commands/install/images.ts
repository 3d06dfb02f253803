// SPDX-License-Identifier: Apache-2.0
import { structuredText } from '#operations/structured-text.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { plannedObjects } from './plan-objects.ts';

/** Flags of `countersign images`. */
export interface ImagesOptions {
  readonly values: readonly string[];
  readonly output: 'text' | 'json' | 'yaml' | 'name';
}

/** A placeholder, because an installation needs a signer. It changes no image. */
const ANY_SIGNER = { signers: [{ name: 'example.com/workload' }] };

interface Workload extends ManagedObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly { readonly image?: string }[];
        readonly initContainers?: readonly { readonly image?: string }[];
      };
    };
  };
}

/**
 * Runs `countersign images`: prints every image of an installation once.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for values that the chart rejects too
 */
export async function images({ values, output }: ImagesOptions): Promise<void> {
  // Workloads alone have a template, and the chart's have this shape.
  const workloads = (await plannedObjects(values, ANY_SIGNER)) as readonly Workload[];
  const all = workloads.flatMap(({ spec }) => {
    const { containers = [], initContainers = [] } = spec?.template?.spec ?? {};
    return [...initContainers, ...containers].flatMap(({ image }) => image ?? []);
  });
  const once = [...new Set(all)].sort();
  if (output === 'json' || output === 'yaml') printDocument(structuredText(once, output));
  else printText(once.map((each) => `${each}\n`).join(''));
}
