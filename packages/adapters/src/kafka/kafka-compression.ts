import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { KafkaCompressionName } from '@weir/runtime/config/engine-config';
import kafkajs from 'kafkajs';
import { compressFrame, decompressFrame } from 'lz4-napi';

export interface KafkaCompression {
  /** The codec's bits in the attributes of a batch. */
  readonly code: 0 | 1 | 3;
  compress(records: Buffer): Promise<Buffer>;
}

const gzipAsync = promisify(gzip);

const COMPRESSIONS: Readonly<Record<KafkaCompressionName, KafkaCompression>> = {
  none: { code: 0, compress: async (records) => records },
  gzip: { code: 1, compress: (records) => gzipAsync(records, { level: constants.Z_BEST_SPEED }) },
  lz4: { code: 3, compress: (records) => compressFrame(records) },
};

export function kafkaCompression(name: KafkaCompressionName): KafkaCompression {
  return COMPRESSIONS[name];
}

/** Adds LZ4 to kafkajs, which supports only gzip. Other processes can have appended LZ4 records, even if this process does not append with LZ4. */
export function readLz4Too(): void {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.LZ4] = () => ({
    compress: ({ buffer }: { readonly buffer: Buffer }) => compressFrame(buffer),
    decompress: (packed: Buffer) => decompressFrame(packed),
  });
}
