// A value as a stream.

package dev.hawthorn;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/** Reads a value piece by piece. */
final class ValueStream extends InputStream {
    private static final int PIECE = 256 << 10;
    private final Reader reader;
    private final Tree tree;
    private final byte[] key;
    private final long size;
    private long offset; // of the next piece
    private byte[] piece = new byte[0];
    private int at;

    ValueStream(Reader reader, Tree tree, byte[] key, long size) {
        this.reader = reader;
        this.tree = tree;
        this.key = key;
        this.size = size;
    }

    private boolean fill() throws IOException {
        if (at < piece.length) return true;
        if (offset >= size) return false;
        try {
            piece = reader.readPart(tree, key, offset, (int) Math.min(PIECE, size - offset));
        } catch (HawthornException failed) {
            throw new IOException(failed);
        }
        at = 0;
        if (piece == null || piece.length == 0) {
            piece = new byte[0];
            throw new IOException("the value was deleted or cut off meanwhile");
        }
        offset += piece.length;
        return true;
    }

    @Override
    public int read() throws IOException {
        return fill() ? piece[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        Objects.checkFromIndexSize(from, length, into.length);
        if (length == 0) return 0;
        if (!fill()) return -1;
        final int count = Math.min(length, piece.length - at);
        System.arraycopy(piece, at, into, from, count);
        at += count;
        return count;
    }

    @Override
    public int available() {
        return piece.length - at;
    }
}
