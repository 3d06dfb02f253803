// SPDX-License-Identifier: Apache-2.0
import { LineCounter, parseDocument, type Document } from 'yaml';
import { GROUP, VERSION, type ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import type { KubeObject, ObjectMeta } from '../../../api/object/object.ts';
import { readClusterSigner, readSigner } from '../../../api/signer/read-signer.ts';
import { SignerError, messageOf } from '../../../errors.ts';

/** etcd takes no larger object, so no ClusterSigner is longer. */
const MAX_FILE_LENGTH = 1_572_864;

/** More than a person writes. */
const MAX_ALIASES = 100;

/** What the API server adds to an object; a file has none of it. */
const NOT_YET_STORED = { uid: '', resourceVersion: '', creationTimestamp: '', generation: 0 };

/** Who writes a file may leave its namespace to kubectl. */
const READERS = new Map<unknown, (object: KubeObject) => ClusterSigner>([
  ['ClusterSigner', readClusterSigner],
  [
    'Signer',
    (object) => {
      const { namespace = 'default' } = object.metadata;
      return readSigner({ ...object, metadata: { ...object.metadata, namespace } });
    },
  ],
]);

/**
 * Reads a file with one ClusterSigner or Signer as a user writes it.
 *
 * @param fileName - for messages
 * @throws SignerError SPEC_INVALID (`wait`) naming the file, and the line or the field
 */
export function parseSignerFile(text: string, fileName: string): ClusterSigner {
  const object = parseYaml(text, fileName);
  const { apiVersion, kind, metadata } = object;
  const wanted = `${GROUP}/${VERSION}`;
  const read = READERS.get(kind);
  if (read === undefined || apiVersion !== wanted) {
    throw invalid(
      fileName,
      `holds no ClusterSigner and no Signer; write apiVersion: ${wanted} and its kind`,
    );
  }
  if (!isRecord(metadata) || typeof metadata['name'] !== 'string') {
    throw invalid(fileName, 'has no metadata.name; write one');
  }
  const stored = { ...NOT_YET_STORED, ...metadata } as ObjectMeta;
  try {
    return read({ ...object, apiVersion: wanted, kind: String(kind), metadata: stored });
  } catch (error) {
    throw invalid(fileName, messageOf(error), error);
  }
}

function parseYaml(text: string, fileName: string): Readonly<Record<string, unknown>> {
  if (text.length > MAX_FILE_LENGTH) throw invalid(fileName, 'is longer than any ClusterSigner');
  const document = parseDocument(text, {
    lineCounter: new LineCounter(),
    prettyErrors: true,
    // Without it the library prints parts of the file as warnings of the process.
    logLevel: 'error',
  });
  const [problem] = document.errors;
  if (problem !== undefined) {
    const why =
      problem.code === 'MULTIPLE_DOCS' ? 'holds several objects; keep one' : problem.message;
    throw invalid(fileName, why, problem);
  }
  const object = resolve(document, fileName);
  if (!isRecord(object)) throw invalid(fileName, 'holds no object');
  return object;
}

/** Aliases may make a large object of a small text; the parser counts what they copy. */
function resolve(document: Document, fileName: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw invalid(fileName, messageOf(error), error);
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(fileName: string, why: string, cause?: unknown): SignerError {
  const message = `${fileName}: ${why}`;
  return new SignerError({ code: 'SPEC_INVALID', disposition: 'wait', message, cause });
}
