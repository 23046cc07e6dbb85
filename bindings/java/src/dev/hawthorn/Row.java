// Figures, names, reports and events: named fields.

package dev.hawthorn;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Named fields with a value each: a number, a flag, bytes, a list of rows, or nothing. Later
 * versions
 * of the library add fields; docs/c-api.md of the library has the names. Never changes.
 */
public final class Row {
    private static final int NONE = 0;
    private static final int NUMBER = 1;
    private static final int FLAG = 2;
    private static final int BYTES = 3;

    private final Map<String, Object> fields = new LinkedHashMap<>();

    private Row() {}

    static List<Row> list(byte[] encoded) {
        return list(ByteBuffer.wrap(encoded).order(ByteOrder.nativeOrder()));
    }

    static Row one(byte[] encoded) {
        final List<Row> rows = list(encoded);
        return rows.isEmpty() ? new Row() : rows.get(0);
    }

    private static byte[] bytes(ByteBuffer from, long size) {
        final byte[] bytes = new byte[(int) size];
        from.get(bytes);
        return bytes;
    }

    private static List<Row> list(ByteBuffer from) {
        final List<Row> rows = new ArrayList<>();
        for (long count = from.getLong(); count > 0; --count) {
            final Row row = new Row();
            for (long fields = from.getLong(); fields > 0; --fields) {
                final String name = Native.string(bytes(from, from.getLong()));
                final long type = from.getLong();
                from.getLong(); // the unit, which the name says
                final long number = from.getLong();
                final Object value;
                if (type == NONE) {
                    value = null;
                } else if (type == NUMBER) {
                    value = number;
                } else if (type == FLAG) {
                    value = number != 0;
                } else if (type == BYTES) {
                    value = bytes(from, number);
                } else {
                    value = list(from);
                }
                row.fields.put(name, value);
            }
            rows.add(row);
        }
        return Collections.unmodifiableList(rows);
    }

    private Object field(String name) {
        final Object value = fields.get(name);
        if (value == null && !fields.containsKey(name)) {
            throw new IllegalArgumentException("no field " + name + " among " + fields.keySet());
        }
        return value;
    }

    /**
     * The names of all fields.
     *
     * @return the names, in their order
     */
    public Set<String> names() {
        return Collections.unmodifiableSet(fields.keySet());
    }

    /**
     * Whether there is such a field, and something in it.
     *
     * @param name its name
     * @return whether
     */
    public boolean has(String name) {
        return fields.get(name) != null;
    }

    /**
     * A number; unsigned ones over 2^63 come negative.
     *
     * @param name its name
     * @return the number
     * @throws IllegalArgumentException where there is no such field
     */
    public long number(String name) {
        return (Long) field(name);
    }

    /**
     * A flag.
     *
     * @param name its name
     * @return the flag
     * @throws IllegalArgumentException where there is no such field
     */
    public boolean flag(String name) {
        return (Boolean) field(name);
    }

    /**
     * Bytes.
     *
     * @param name their name
     * @return a copy; null where there is nothing
     * @throws IllegalArgumentException where there is no such field
     */
    public byte[] bytes(String name) {
        final byte[] value = (byte[]) field(name);
        return value == null ? null : value.clone();
    }

    /**
     * Bytes as a string.
     *
     * @param name their name
     * @return the string; null where there is nothing
     * @throws IllegalArgumentException where there is no such field
     */
    public String text(String name) {
        return Native.string((byte[]) field(name));
    }

    /**
     * A list.
     *
     * @param name its name
     * @return the rows
     * @throws IllegalArgumentException where there is no such field
     */
    @SuppressWarnings("unchecked")
    public List<Row> rows(String name) {
        return (List<Row>) field(name);
    }

    @Override
    public String toString() {
        final StringBuilder text = new StringBuilder("{");
        fields.forEach((name, value) -> text.append(text.length() > 1 ? ", " : "")
                .append(name)
                .append('=')
                .append(value instanceof byte[] ? Native.string((byte[]) value) : value));
        return text.append('}').toString();
    }
}
