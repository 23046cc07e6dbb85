import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;

/**
 * Workloads of hawthorn-bench on TuplDB, which has no interface but Java's. hawthorn-bench starts it
 * (foreign.h): a workload, then name=value for each option. What it finds out goes to standard output
 * as lines (Report), and hawthorn-bench puts it into its tables and files.
 */
final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    PrintStream out = System.out;
    // Whatever a library prints is not ours to report.
    System.setOut(System.err);
    Report report = new Report(out);
    try {
      Map<String, String> options = new HashMap<>();
      for (int i = 1; i < arguments.length; ++i) {
        String[] parts = arguments[i].split("=", 2);
        options.put(parts[0], parts[1]);
      }
      Run run = switch (arguments[0]) {
        case "insert" -> new InsertRun(options, report);
        case "upsert" -> new UpsertRun(options, report);
        case "bank" -> new BankRun(options, report);
        default -> throw new IllegalArgumentException("no workload " + arguments[0]);
      };
      run.run();
    } catch (Throwable error) {
      error.printStackTrace();
      report.fail("%s", error.getCause() == null ? error : error.getCause());
    }
    out.flush();
    System.exit(0);
  }
}
