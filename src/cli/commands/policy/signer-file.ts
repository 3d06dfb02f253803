// SPDX-License-Identifier: Apache-2.0
import { isRecord } from '#base/record.ts';
import type { Document } from 'yaml';
import { ACME_GROUP, ACME_VERSION } from '#api/acme/names.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { readExternalSigner } from '#api/external/external-signer.ts';
import { GROUP, VERSION, type SignerObject } from '#api/signer/cluster-signer.ts';
import type { KubeObject, ObjectMeta } from '#api/object/object.ts';
import { readClusterSigner, readSigner } from '#api/signer/read-signer.ts';
import { SignerError, messageOf } from '#base/errors.ts';
import { readYaml, yamlValue } from '#cli/yaml-document.ts';

/** The largest object that etcd stores by default, in bytes. */
const MAX_FILE_LENGTH = 1_572_864;

/** Metadata that the API server adds, and a file lacks. */
const NOT_YET_STORED = { uid: '', resourceVersion: '', creationTimestamp: '', generation: 0 };

/** Readers by kind. A file may leave the namespace to kubectl. */
const READERS = new Map<unknown, (object: KubeObject) => SignerObject>([
  ['ClusterSigner', readClusterSigner],
  ['Signer', (object) => readSigner(inNamespace(object))],
  ['AcmeClusterSigner', readAcmeSigner],
  ['ExternalClusterSigner', readExternalSigner],
  ['AcmeSigner', (object) => readAcmeSigner(inNamespace(object))],
]);

function inNamespace(object: KubeObject): KubeObject {
  const { namespace = 'default' } = object.metadata;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** @returns the `apiVersion` of a Countersign kind */
function versionOf(kind: unknown): string {
  const isOfAcme = kind === 'AcmeClusterSigner' || kind === 'AcmeSigner';
  return isOfAcme ? `${ACME_GROUP}/${ACME_VERSION}` : `${GROUP}/${VERSION}`;
}

/**
 * Parses a YAML file with one ClusterSigner, Signer, ExternalClusterSigner, AcmeClusterSigner or
 * AcmeSigner, as a user writes it.
 *
 * @param fileName - for error messages
 * @throws SignerError SPEC_INVALID (`wait`) with the file, and the line or the field
 */
export function parseSignerFile(text: string, fileName: string): SignerObject {
  const object = parseYaml(text, fileName);
  const { apiVersion, kind, metadata } = object;
  const wanted = versionOf(kind);
  const read = READERS.get(kind);
  if (read === undefined || apiVersion !== wanted) {
    throw invalid(
      fileName,
      `is neither a ClusterSigner nor a Signer; write apiVersion: ${wanted} and kind: ClusterSigner, Signer or ExternalClusterSigner, or one of the two kinds of ACME`,
    );
  }
  if (!isRecord(metadata) || typeof metadata['name'] !== 'string') {
    throw invalid(fileName, 'has no metadata.name; add one');
  }
  // The rest of the metadata is as its author wrote it, and only shown.
  const stored = { ...NOT_YET_STORED, ...metadata } as ObjectMeta;
  try {
    return read({ ...object, apiVersion: wanted, kind: String(kind), metadata: stored });
  } catch (error) {
    throw invalid(fileName, messageOf(error), error);
  }
}

function parseYaml(text: string, fileName: string): Readonly<Record<string, unknown>> {
  if (text.length > MAX_FILE_LENGTH) {
    throw invalid(fileName, `is larger than any ClusterSigner (${MAX_FILE_LENGTH} bytes)`);
  }
  const document = readYaml(text);
  const [problem] = document.errors;
  if (problem !== undefined) {
    const why =
      problem.code === 'MULTIPLE_DOCS'
        ? 'holds several objects; keep one of them'
        : problem.message;
    throw invalid(fileName, why, problem);
  }
  const object = resolved(document, fileName);
  if (!isRecord(object))
    throw invalid(fileName, 'holds no YAML mapping; write one ClusterSigner or Signer');
  return object;
}

function resolved(document: Document.Parsed, fileName: string): unknown {
  try {
    return yamlValue(document);
  } catch (error) {
    throw invalid(fileName, messageOf(error), error);
  }
}

function invalid(fileName: string, why: string, cause?: unknown): SignerError {
  const message = `${fileName}: ${why}`;
  return new SignerError({ code: 'SPEC_INVALID', disposition: 'wait', message, cause });
}
