#pragma once
// Text for people: numbers with commas, sizes and rates in words, printf into a string.
//
// Used by everything that prints. Threads: any.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hawthorn::bench {

[[gnu::format(printf, 1, 2)]] std::string print_text(const char* format, ...);

std::string with_commas(uint64_t number);
// "1.5 GB": decimal units.
std::string size_text(double bytes);
// Three digits that matter: "1.52 M", "843 K", "12.5".
std::string short_number(double number);

// A JSON string literal.
std::string json_string(std::string_view text);

std::vector<std::string> split(std::string_view text, char separator);

// "2", "0.5", "512M", "3G": gigabytes (10^9) unless a unit follows. Throws std::invalid_argument.
uint64_t parse_size(const std::string& text);
// "1000000", "1M", "20k". Throws std::invalid_argument.
uint64_t parse_count(const std::string& text);

}  // namespace hawthorn::bench
