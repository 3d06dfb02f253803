// SPDX-License-Identifier: Apache-2.0
import { attributeCases } from './attributes.ts';
import type { Case } from './case.ts';
import { certificateFields } from './certificate-fields.ts';
import { extensions } from './extensions.ts';
import { framing } from './framing.ts';
import { keys } from './keys.ts';
import { pem } from './pem.ts';
import { signatures } from './signatures.ts';
import { subjects } from './subjects.ts';

/** Every file of the corpus; its keys are made when the process starts. */
export const CORPUS: readonly Case[] = [
  ...framing(),
  ...attributeCases(),
  ...subjects(),
  ...keys(),
  ...signatures(),
  ...certificateFields(),
  ...extensions(),
  ...pem(),
];
