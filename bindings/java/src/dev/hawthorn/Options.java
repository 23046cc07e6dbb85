// The options of a database.

package dev.hawthorn;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * The options of a database; each method changes the object and returns it. One may open any number
 * of databases. Threads: one at a time while it is changed.
 */
public final class Options {
    private final List<LongConsumer> settings = new ArrayList<>();

    /** The defaults. */
    public Options() {}

    /**
     * The names of all options.
     *
     * @return the names that {@link #set} takes
     */
    public static List<String> names() {
        final List<String> names = new ArrayList<>();
        for (int i = 0; ; ++i) {
            final byte[] name = Native.optionsName(i);
            if (name == null) return names;
            names.add(Native.string(name));
        }
    }

    private static <T> T with(Options options, LongFunction<T> body) {
        final long handle = Native.optionsCreate();
        try {
            if (options != null) options.settings.forEach(setting -> setting.accept(handle));
            return body.apply(handle);
        } finally {
            Native.optionsFree(handle);
        }
    }

    /** Calls with a native object of the options, the defaults for null. */
    static <T> T use(Options options, LongFunction<T> body) {
        return with(options, body);
    }

    private Options add(LongConsumer setting) {
        settings.add(setting);
        try {
            return with(this, handle -> this); // what is wrong is told at once
        } catch (RuntimeException wrong) {
            settings.remove(settings.size() - 1);
            throw wrong;
        }
    }

    /**
     * Sets an option by its name. Sizes may end with K, M or G; flags are true or false. Those that
     * are lists (devices, merge_operators) take one more with each call.
     *
     * @param name such as memory_budget_bytes, durability, compression, read_only
     * @param value its value
     * @return this
     * @throws HawthornException.NotFound for a name that there is not
     * @throws HawthornException.InvalidArgument for a value
     * @throws HawthornException.NotSupported for an option that is a function, which has a method
     */
    public Options set(String name, Object value) {
        final byte[] n = Native.zeroEnded(Objects.requireNonNull(name));
        final byte[] v = Native.zeroEnded(String.valueOf(value));
        return add(handle -> Native.optionsSet(handle, n, v));
    }

    /**
     * The value of an option, as {@link #set} takes it; of lists the number of items.
     *
     * @param name its name
     * @return its value
     * @throws HawthornException.NotFound for a name that there is not
     */
    public String get(String name) {
        final byte[] n = Native.zeroEnded(Objects.requireNonNull(name));
        return with(this, handle -> Native.string(Native.optionsGet(handle, n)));
    }

    /**
     * The memory that the database may use. Default: 256 MB, or a quarter
     * of what the control groups allow.
     *
     * @param bytes how much
     * @return this
     */
    public Options memoryBudget(long bytes) {
        return set("memory_budget_bytes", bytes);
    }

    /**
     * What commits survive that do not say it. Default: {@link Durability#FULL}.
     *
     * @param durability none, async or full
     * @return this
     */
    public Options durability(Durability durability) {
        return set("durability", durability.name().toLowerCase(java.util.Locale.ROOT));
    }

    /**
     * Opens only for reading. Default: false.
     *
     * @param readOnly whether
     * @return this
     */
    public Options readOnly(boolean readOnly) {
        return set("read_only", readOnly);
    }

    /**
     * A merge operator, for {@link Database#setMergeOperator}. It has to be given at each opening.
     *
     * @param name 1 to 255 bytes, always the same
     * @param operator the operator
     * @return this
     */
    public Options mergeOperator(String name, MergeOperator operator) {
        final byte[] n = Native.zeroEnded(name);
        Objects.requireNonNull(operator);
        return add(handle -> Native.optionsAddMergeOperator(handle, n, operator));
    }

    /**
     * One of the library's merge operators: uint64_add, max, append, or append: and a separator.
     *
     * @param name its name
     * @return this
     */
    public Options mergeOperator(String name) {
        return set("merge_operators", name);
    }

    /**
     * An order of keys by an encoding, for {@link TreeOptions#order}.
     *
     * @param name 1 to 255 bytes, always the same
     * @param fixedBytes the size of all sort keys; 0: they differ
     * @param order the order
     * @return this
     */
    public Options keyOrder(String name, int fixedBytes, KeyOrder order) {
        final byte[] n = Native.zeroEnded(name);
        Objects.requireNonNull(order);
        if (fixedBytes < 0) throw new IllegalArgumentException("fixedBytes");
        return add(handle -> Native.optionsAddKeyOrder(handle, n, fixedBytes, order));
    }

    /**
     * An order of keys by a comparison, which costs far more than an encoding.
     *
     * @param name 1 to 255 bytes, always the same
     * @param comparator must depend on the arguments alone, call no database and throw nothing:
     *     where it throws, bytes are compared
     * @return this
     */
    public Options keyComparator(String name, Comparator<byte[]> comparator) {
        final byte[] n = Native.zeroEnded(name);
        Objects.requireNonNull(comparator);
        return add(handle -> Native.optionsAddKeyComparator(handle, n, comparator));
    }

    /**
     * What removes or changes entries of a tree by a rule.
     *
     * @param tree the name of the tree
     * @param name of the filter, for messages
     * @param keysOnly whether values are not read
     * @param filter the filter
     * @return this
     */
    public Options flushFilter(String tree, String name, boolean keysOnly, FlushFilter filter) {
        final byte[] t = Native.bytes(tree);
        final byte[] n = Native.zeroEnded(name);
        Objects.requireNonNull(filter);
        return add(handle -> Native.optionsSetFlushFilter(handle, t, n, keysOnly, filter));
    }

    /**
     * Messages for an operator. Default: none.
     *
     * @param listener who gets them
     * @return this
     */
    public Options log(LogListener listener) {
        Objects.requireNonNull(listener);
        return add(handle -> Native.optionsSetLog(handle, listener));
    }

    /**
     * Who is told of entries that have ended.
     *
     * @param listener who is told
     * @return this
     */
    public Options onExpiry(ExpiryListener listener) {
        Objects.requireNonNull(listener);
        return add(handle -> Native.optionsSetOnExpiry(handle, listener));
    }

    /**
     * Adds one who is told what the database does.
     *
     * @param listener who is told
     * @return this
     */
    public Options listener(EventListener listener) {
        Objects.requireNonNull(listener);
        return add(handle -> Native.optionsAddListener(handle, listener));
    }

    /**
     * Adds a hook of commits; they are asked in the order in which they were added.
     *
     * @param hook the hook
     * @return this
     */
    public Options commitHook(CommitHook hook) {
        Objects.requireNonNull(hook);
        return add(handle -> Native.optionsAddCommitHook(handle, hook));
    }

    /**
     * Encryption at rest.
     *
     * @param keyId the id of the key for a database that is created; null where none is
     * @param provider gives keys by their ids
     * @return this
     */
    public Options encryption(String keyId, KeyProvider provider) {
        final byte[] id = Native.bytes(keyId);
        Objects.requireNonNull(provider);
        return add(handle -> Native.optionsSetEncryption(handle, id, provider));
    }

    /**
     * A key of the system's randomness.
     *
     * @return 32 bytes
     */
    public static byte[] generateKey() {
        return Native.generateKey();
    }
}
