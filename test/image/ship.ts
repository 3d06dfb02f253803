// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUNDLE, programOfBundle } from './bundle.ts';
import { createContainer, programOf } from './container.ts';
import type { Image } from './image.ts';
import { missingTools } from './tools.ts';

/** Only root may mount; elsewhere, or without buildah, the bundle stands for the image. */
export const CAN_RUN_IMAGES = process.getuid?.() === 0 && missingTools().length === 0;

/** What is shipped, ready to run as it is to run. */
export interface Shipped {
  /** The argv before a subcommand. */
  readonly program: readonly string[];
  /** The file that is run, as this process sees it. */
  readonly bundle: string;
  /** A folder that the program sees under the same path. */
  readonly secrets: string;
  remove(): Promise<void>;
}

export async function shipImage(image: Image): Promise<Shipped> {
  const secrets = mkdtempSync(join(tmpdir(), 'countersign-image-'));
  try {
    const container = await createContainer(image.id);
    const remove = async (): Promise<void> => {
      rmSync(secrets, { recursive: true });
      await container.remove();
    };
    const bundle = join(container.root, 'countersign.mjs');
    return { program: programOf(container, secrets), bundle, secrets, remove };
  } catch (error) {
    rmSync(secrets, { recursive: true });
    throw error;
  }
}

export function shipBundle(): Shipped {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-bundle-'));
  const secrets = join(directory, 'secrets');
  mkdirSync(secrets, { mode: 0o700 });
  const program = programOfBundle(directory);
  const remove = (): Promise<void> => {
    rmSync(directory, { recursive: true });
    return Promise.resolve();
  };
  return { program, bundle: BUNDLE, secrets, remove };
}
