// SPDX-License-Identifier: Apache-2.0
import { Document, visit } from 'yaml';
import { printable, printableJson } from '#base/quote.ts';
import type { Output } from './report.ts';

/** Formats a result as JSON or YAML. */
export function structuredText(value: unknown, output: Exclude<Output, 'text'>): string {
  if (output === 'json') return printableJson(`${JSON.stringify(value, undefined, 2)}\n`);
  const document = new Document(value);
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && printable(node.value) !== node.value) {
        node.type = 'QUOTE_DOUBLE';
      }
    },
  });
  return printableJson(document.toString());
}
