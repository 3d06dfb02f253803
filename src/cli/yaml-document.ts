// SPDX-License-Identifier: Apache-2.0
/** YAML files that a person wrote, for messages with the line of a fault. */
import { messageOf, usageError } from '#base/errors.ts';
import { LineCounter, parseDocument, type Document } from 'yaml';

/** Limit of YAML aliases, more than a person writes. */
const MAX_ALIASES = 100;

/**
 * Parses a text. The document has its faults, each with line and column, without the line itself:
 * the wrong file may hold a key or a passphrase.
 */
export function readYaml(text: string): Document.Parsed {
  const document = parseDocument(text, {
    lineCounter: new LineCounter(),
    prettyErrors: true,
    // Without this, the library prints parts of the file as process warnings.
    logLevel: 'error',
  });
  for (const error of document.errors) error.message = error.message.replace(/:?\n[^]*$/, '');
  return document;
}

/**
 * Returns the value of a document.
 *
 * @throws Error if its aliases expand a small text to a huge object
 */
export function yamlValue(document: Document.Parsed): unknown {
  return document.toJS({ maxAliasCount: MAX_ALIASES });
}

/**
 * Returns the value of a text. A key that occurs twice is an error.
 *
 * @param name - of the file, for messages
 * @throws SignerError USAGE (`fail`)
 */
export function parseYaml(text: string, name: string): unknown {
  const document = readYaml(text);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw usageError(`${name} is not YAML: ${problem.message}`);
  try {
    return yamlValue(document);
  } catch (error) {
    throw usageError(`${name}: ${messageOf(error)}`);
  }
}
